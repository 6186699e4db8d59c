"""
`neuron-emf stoppable`: may this instance be given back, and if not, why not.

It stops nothing. The verdict is a pure function over two sorts of facts, what log lines say
and what the account says, and over guards, each one thing that must hold. What nobody could
tell never passes.

* `command`          the click command
* `settings`         which instance of which stack
* `facts`            what the lines and the account say
* `line_reading`     the facts of lines
* `account_reading`  the facts of the account
* `guard`            one thing that must hold, and how it is judged
* `line_guards`      what must hold of the lines
* `account_guards`   what must hold of the account
* `verdict`          all guards together, and the command a person may type
* `listing`          the verdict for people and for programs
"""
