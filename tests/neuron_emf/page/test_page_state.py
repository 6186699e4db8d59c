"""The page's state in the address, in state.js under Node."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from neuron_emf.page.server import STATIC
from tests.neuron_emf.page.test_page_modules import require

FILTERS = ("cluster", "team", "owner", "instance")
TEXT = st.text(max_size=12).map(lambda text: text.encode("utf-8", "replace").decode())
STATES = st.fixed_dictionaries(
    {
        **dict.fromkeys((*FILTERS, "sort", "open"), TEXT),
        "group": st.sampled_from(["owner", "team", "cluster", "type", "instance"]),
        "range": st.sampled_from(["15m", "1h", "3h", "6h", "12h", "24h", "7d", "30d"]),
    }
)
START = {
    "cluster": "c",
    "team": "t",
    "owner": "o",
    "instance": "i",
    "group": "team",
    "range": "3h",
    "sort": "-usd",
    "open": "row:x",
}

# each example starts Node, so shrinking would take too long
FEW = settings(max_examples=8, phases=[Phase.generate])


def evaluate(expression, cases, name="state.js"):
    """Return the JSON of *expression* for each `one` of *cases*, with module *name* as `page`."""
    require(shutil.which("node"), "node was not found: install Node.js 20 or later")
    module = (STATIC / name).as_uri()
    script = f"""
        import * as page from {json.dumps(module)};
        import {{ readFileSync }} from "node:fs";
        const cases = JSON.parse(readFileSync(0, "utf8"));
        process.stdout.write(JSON.stringify(cases.map((one) => {expression})));
    """
    ended = subprocess.run(
        ["node", "--input-type=module", "--eval", script],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(ended.stdout)


@FEW
@given(st.lists(STATES, min_size=20, max_size=40), TEXT)
def test_a_reload_or_a_shared_address_restores_the_state(states, token):
    """Any state that is written to the address is read from it again, token included."""
    cases = [{"state": state, "token": token} for state in states]
    written = evaluate(
        "[page.read('#' + page.write(one.state, one.token)), "
        "page.readToken(page.write(one.state, one.token))]",
        cases,
    )
    assert [[state, token] for state in states] == written


@pytest.mark.parametrize(
    ("change", "cleared"),
    [
        ({"cluster": "d"}, {"owner", "instance", "open"}),
        ({"team": "u"}, {"owner", "instance", "open"}),
        ({"owner": "p"}, {"team", "instance", "open"}),
        ({"instance": "j"}, {"team", "owner", "open"}),
        ({"instance": "j", "owner": "o"}, {"team", "open"}),
        ({"cluster": ""}, {"open"}),
        ({"instance": ""}, {"open"}),
        ({"cluster": "c"}, set()),
        ({"group": "type"}, {"sort", "open"}),
        ({"range": "7d"}, set()),
    ],
)
def test_a_selection_clears_only_what_it_contradicts(change, cleared):
    """
    A selection sets each member that it names, clears each that it contradicts, and keeps the rest.
    """
    (result,) = evaluate("page.select(one[0], one[1])", [(START, change)])
    assert {**START, **change, **dict.fromkeys(cleared - change.keys(), "")} == result


def test_a_group_or_range_that_does_not_exist_is_the_default():
    """A damaged address opens the page."""
    (result,) = evaluate("page.read(one)", ["#group=none&range=toString&cluster=%E0%A4%A"])
    assert {"group": "owner", "range": "1h"} == {name: result[name] for name in ("group", "range")}
