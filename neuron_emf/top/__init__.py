"""
The fleet now: clusters, their instances, their cores.

* `settings`  what can be chosen
* `window`    the newest minutes of each instance, kept while time goes on
* `fleet`     what a window shows at a moment: cores, idle time and money
* `order`     which cluster or instance comes first
* `feed`      where lines come from, and which are asked for next
* `texts`     figures as short texts, cores as a strip of signs
* `columns`   how wide columns are, and which a terminal has room for
* `holders`   who holds the cores of an instance, in words
* `page`      the fleet as tables for people
* `document`  the fleet as JSON for programs
* `rows`      the fleet as rows to walk through
* `screen`    the view that refreshes, in Textual
* `watch`     a feed, what is known of it, and its fleet now
* `command`   `neuron-emf top`

What an instance did is its newest minute, merged as the rollups merge it. An
instance that is silent or shut down cleanly has no cores and costs nothing here,
as in the rollups: nobody knows.
"""
