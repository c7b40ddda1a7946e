"""Small changes to a module's source, each of which a test of the module should notice.

Examples: a reversed comparison, a number that is one larger, a refusal left out.
"""

import ast
import copy
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# The replacements for each operator.
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Break: ast.Continue,
    ast.Continue: ast.Break,
}
# Calls that only print or log something, and calls that only declare something.
LOGS = {"log", "logger", "logging", "report", "warn"}
DECLARATIONS = {"TypeVar", "NewType", "Protocol", "field", "lru_cache"}


@dataclass(frozen=True)
class Mutant:
    """One change of one module: the `choice`-th for the `place`-th node that may be changed."""

    path: str
    line: int
    change: str
    place: int
    choice: int


def mutants(path: str, source: str) -> Iterator[Mutant]:
    """Yield every change of a module that is worth trying.

    Annotations, docstrings, messages, log calls and declarations stay unchanged.
    """
    for place, old in enumerate(_nodes(ast.parse(source))):
        for choice, new in enumerate(changes(old)):
            line = next(n.lineno for n in ast.walk(old) if hasattr(n, "lineno"))
            yield Mutant(path, line, f"{_short(old)}  →  {_short(new)}", place, choice)


def mutated(source: str, mutant: Mutant) -> str:
    """Return the module's source with the mutant's change."""
    tree = ast.parse(source)
    old = next(itertools.islice(_nodes(tree), mutant.place, None))
    new = next(itertools.islice(changes(old), mutant.choice, None))
    return ast.unparse(ast.fix_missing_locations(_Replacing(old, new).visit(tree)))


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the possible replacements of the node."""
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                if type(operator) in SWAPS:
                    yield _with(node, ops=_swapped(node.ops, place))
        case ast.BoolOp() | ast.AugAssign() if type(node.op) in SWAPS:
            yield _with(node, op=SWAPS[type(node.op)]())
        case ast.BinOp() if type(node.op) in SWAPS and not _is_text(node.left, node.right):
            yield _with(node, op=SWAPS[type(node.op)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.If() | ast.While() | ast.IfExp() if not _has_operator(node.test):
            yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
        case ast.comprehension(ifs=[_, *_]):
            for place in range(len(node.ifs)):
                yield _with(node, ifs=node.ifs[:place] + node.ifs[place + 1 :])
        case ast.Call(func=ast.Name(id="replace"), keywords=[_, *_]):
            for place in range(len(node.keywords)):
                yield _with(node, keywords=node.keywords[:place] + node.keywords[place + 1 :])
        case ast.Expr(value=ast.Call()) | ast.Raise():
            yield ast.Pass()
        case ast.Break() | ast.Continue():
            yield SWAPS[type(node)]()


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that may be changed, always in the same order."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params", "type_comment"):
            continue
        if isinstance(node, ast.ClassDef) and name in ("bases", "keywords"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _is_left_alone(child):
                continue
            yield child
            # The text of a refusal is a message; raising it is the rule.
            if not isinstance(child, ast.Raise):
                yield from _nodes(child)


def _is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.JoinedStr() | ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=function)) | ast.Call(func=function):
            names = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
            return bool(names & (LOGS | DECLARATIONS))
        case ast.keyword(arg="strict"):
            return True  # of zip: it guards against what cannot happen
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.BitOr())):
            return name[:1].isupper() and not name.isupper()  # a named union of types
    return False


def _is_text(*nodes: ast.AST) -> bool:
    return any(
        isinstance(n, ast.JoinedStr) or (isinstance(n, ast.Constant) and isinstance(n.value, str))
        for n in nodes
    )


def _has_operator(test: ast.expr) -> bool:
    """Tell whether a condition has its own operator to change."""
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    return negated or isinstance(test, (ast.Compare, ast.BoolOp))


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _swapped(operators: Sequence[ast.cmpop], place: int) -> list[ast.AST]:
    return [SWAPS[type(o)]() if n == place else o for n, o in enumerate(operators)]


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 70 else text[:69] + "…"


class _Replacing(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)
