"""Make `tests/data/sentences.txt`: every sentence that a person can receive, by face and module."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# title | files: a file is under the first title that has it
FACES: Final = """\
Alarm messages and their OK | lambda/aggregator/explain/*
The weekly digest | lambda/aggregator/digest/*.py
Words of every face | lambda/neuron_words/*
Log lines of the functions | lambda/aggregator/**/*.py lambda/aws_dynamodb/*.py
Contract and ledger | lambda/neuron_wire/*.py lambda/neuron_accounts/*.py
The emitter | emitter/neuron_emitter/**/*.py
neuron-emf check | neuron_emf/check/*.py
neuron-emf findings | neuron_emf/findings/*.py neuron_emf/verdict/*
neuron-emf deploy | neuron_emf/deploy/*.py
neuron-emf cost and report | neuron_emf/cost/*.py neuron_emf/report/*.py neuron_emf/report/page.html
The page | neuron_emf/page/*.py neuron_emf/page/static/*.js
Other commands | neuron_emf/**/*.py neuron_emf/tables.toml
Descriptions of the template | template.yaml deploy/*.yaml
"""
# an example value | ends of the names of placeholders that it stands for
EXAMPLES: Final = """\
training | cluster cluster_name clusters
i-0a1b2c3d4e5f60718 | instance instance_id ids entry shown instances subject
trn1.32xlarge | instance_type type
us-east-1 | region
research/train-7 | owner owners short who words key label asked waiting
search | team
neuron-emf | stack_name stack
web-1 | name names other others pod resource
neuron-emf check | command
/neuron-emf/records | group log_group
/etc/neuron-emf.toml | path file place directory memory
the connection was refused | error why reason strerror message cause problem said what failure
Use --region. | advice
logs:PutLogEvents | action operation
AccessDenied | code
TimeoutError | __name__
http://127.0.0.1:8008 | url host where address
08:15 UTC | time seen minute first_ms end_ms at start_ms minute_ms as_of
12.50 USD | usd amount amount_usd cost idle_cost saved avoidable spread
12 cores | cores core used idle busy
12 records | record
12 instances | device devices runtime runtimes
2026-11 | month
30 | s ms mib seconds minutes percent
45 minutes | quiet
12 | count number times most least limit records lines values hours more known total port [A-Z_]+
--cluster | flag option
x=1 | text given value found member
"""
NOT_FOR_PEOPLE: Final = re.compile(
    r"""
      [\\=]\( | \(\? | => | =& | \)\ \{ | \bconst\  | &&  # patterns and JavaScript
    | SELECT | INSERT | UPDATE\  | DELETE\  | PRAGMA | CREATE\  | attribute_not  # queries
    | ^(filter|fields)\b
    | ^\./ | -src\  | ^<! | ;\ charset  # the page's files
    | [Mm]apping\[ | \b(list|dict|tuple)\[  # types
    | ^\w+(\ [A-Z]\w+)+$ | ^(\w+[_-]\w+\ ?)+ $ | ^\w+([_-]\w+)+(\ [a-z_-]+)*$  # names
    | ^soft\  | \ soft$ | ^[a-z]+\ ([a-z]+\ )*[a-z]+-[a-z-]+$  # classes of style sheets
    """,
    re.VERBOSE,
)
QUOTED: Final = re.compile(r'"((?:[^"\\\n]|\\.)+)"|>([^<>{}$;=()]+)<')
DESCRIPTIONS: Final = re.compile(r"^( *)\w*Description: (.*(?:\n\1 +.*)*)", re.MULTILINE)


def sentences(root: Path) -> str:
    """Return the file of sentences of the product whose root folder is *root*."""
    seen: set[Path] = set()
    parts = []
    for face in FACES.splitlines():
        title, _, patterns = face.partition(" | ")
        found = {path for pattern in patterns.split() for path in root.glob(pattern)}
        files = sorted(path for path in found - seen if path.is_file())
        seen.update(files)
        parts.append(f"\n## {title}\n")
        for path in files:
            lines = list(dict.fromkeys(filter(is_sentence, map(with_examples, texts_of(path)))))
            if lines:
                parts.append("\n".join([f"\n{path.relative_to(root)}", *lines, ""]))
    return "".join(parts).lstrip()


def texts_of(path: Path) -> Iterator[str]:
    """Yield the texts of a file in its order, with {name} for what is computed."""
    source = path.read_text("utf-8")
    if path.suffix == ".py":
        yield from literals(ast.parse(source))
    elif path.suffix == ".yaml":
        for _, text in DESCRIPTIONS.findall(source):
            yield re.sub(r"!Sub\s+- |>-\s+|\s- \{.*|\s- Runbook: !If.*", "", text)
    else:
        for match in QUOTED.finditer(source):
            yield match[1] or match[2]


def literals(node: ast.AST) -> Iterator[str]:
    """Yield the strings in *node* that are not docstrings."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(map(written, node.values))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        for child in ast.iter_child_nodes(node):
            yield from literals(child)


def written(part: ast.expr) -> str:
    """Return a part of an f-string; of an expression its last name, in braces."""
    if not isinstance(part, ast.FormattedValue):
        return str(ast.literal_eval(part))
    names = re.findall(r"[A-Za-z_]\w*", ast.unparse(part.value).partition(" if ")[0])
    return f"{{{['value', *names][-1]}}}"


def with_examples(text: str) -> str:
    """Return *text* on one line, with example values."""
    return " ".join(re.sub(r"\$?\{(\w+)\}", lambda match: example(match[1]), text).split())


def example(name: str) -> str:
    """Return the example of a placeholder; without one its name, in brackets."""
    for row in EXAMPLES.splitlines():
        value, _, names = row.partition(" | ")
        if re.search(rf"(^|_)({names.replace(' ', '|')})$", name):
            return value
    return f"<{name}>"


def is_sentence(text: str) -> bool:
    """Return True if *text* has three words and is not for a machine."""
    words = [word for word in text.split() if re.search("[a-z]{2}", word)]
    return len(words) > 2 and not NOT_FOR_PEOPLE.search(text)
