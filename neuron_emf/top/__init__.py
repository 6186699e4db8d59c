"""
`neuron-emf top`: the current answer of `neuron-emf page`, as text.

It reads the view of the page and computes nothing itself. A value that rollup lines lack is shown
as unknown, never as 0.
"""
