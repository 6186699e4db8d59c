"""
The fleet now: clusters, their instances, their cores.

* `settings`  what can be chosen
* `window`    the newest minutes of each instance, kept while time goes on
* `figures`   cores, idle time and money, of an instance, a cluster or all
* `fleet`     what a window shows at a moment
* `order`     which cluster or instance comes first
* `cores`     the cores of an instance as a strip of signs
* `feed`      where lines come from, and which are asked for next
* `live_tail` the same from a Live Tail session
* `words`     figures as short texts
* `page`      the fleet as tables for people
* `document`  the fleet as JSON for programs
* `screen`    the view that refreshes and can be walked through, in Textual
* `command`   `neuron-emf top`

What an instance did is its newest minute, merged as the rollups merge it. An
instance that is silent or has said goodbye has no cores and costs nothing here,
as in the rollups: nobody knows.
"""
