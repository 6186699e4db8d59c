"""
From what is measured to what a month costs: docs/scale.md.

* `tariff`     what AWS charges and allows, each with how far it is verified
* `measured`   sizes, requests and times, found by running the code
* `fleets`     the fleets of the page, and what is assumed of them
* `functions`  seconds and requests of the functions
* `bill`       one month of one fleet in one mode
* `quotas`     what it takes of what an account allows
* `switch`     where one choice becomes cheaper than another
* `written`    amounts as the page writes them
* `tables`     the page's tables
* `page`       all of it as Markdown; its words are in page.md
"""
