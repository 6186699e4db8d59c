"""
`neuron-emf top`: the answer of `neuron-emf page` for this moment, as text.

It asks the page's own view and reckons nothing itself: what a rollup line does not
tell is said to be unknown, and never 0.
"""
