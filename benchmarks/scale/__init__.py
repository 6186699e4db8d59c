"""
From what is measured to docs/explanation/scale.md; the bill itself is `neuron_emf.cost`.

* `measurement` sizes, requests and times, found by running the code
* `fleets`     the fleets of the page, and what it promises
* `quotas`     what an account allows, and what a fleet takes of it
* `switch`     where one choice becomes cheaper than another
* `tables`     the page's tables
* `page`       all of it as Markdown; its words are in page.md
"""
