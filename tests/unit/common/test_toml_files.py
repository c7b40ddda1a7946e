import tomllib

import pytest

from common.files.toml_files import MOST_DEPTH, MOST_PARTS, TomlError, read_toml

DOTS = ".".join("a" * 40)


@pytest.mark.parametrize(
    "source",
    [
        ".".join("a" * MOST_PARTS) + " = 1",
        "a = " + "[" * MOST_DEPTH + "]" * MOST_DEPTH,
        f'a = "{DOTS} [[[[[[[[[[[[[[[[[[[["',
        f"a = '{DOTS}'",
        f'a = """{DOTS}\n"" {DOTS}"""""',
        f"a = '''{DOTS}\n'' {DOTS}'''''",
        f"# {DOTS} [[[[[[[[[[[[[[[[[[[[[[\na = 1",
        "a = [1.5, 2.5, 3.5, " + "1.5, " * 100 + "]",
        'a = "\\" . . . . . . . . . . . . . . . . . . . . \\""',
        "\n".join(f"[a.b{n}]\nc.d = 1.5" for n in range(50)),
    ],
)
def test_what_is_not_deep_is_read(source: str) -> None:
    assert read_toml(source) == tomllib.loads(source)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (f"{DOTS} = 1", "line 1: a key has more than 16 parts"),
        (f"b = 1\n[{DOTS}]", "line 2: a key has more than 16 parts"),
        (f"b = 1\n\n[[{DOTS}]]", "line 3: a key has more than 16 parts"),
        (f"b = {{{DOTS} = 1}}", "line 1: a key has more than 16 parts"),
        (f'b = {{c = """x"""", {DOTS} = "y"}}', "line 1: a key has more than 16 parts"),
        (f"b = {{c = '''x'''', {DOTS} = 'y'}}", "line 1: a key has more than 16 parts"),
        (f'b = """#\n"""\n{DOTS} = 1', "line 3: a key has more than 16 parts"),
        ("b = " + "[" * 17, "line 1: lists and tables are nested more than 16 deep"),
        ("b = " + "{a = [" * 9, "line 1: lists and tables are nested more than 16 deep"),
        ("# ä" + "ä" * 131_072, "it is larger than 256 KB"),
    ],
)
def test_what_is_deep_or_large_is_refused_before_it_is_parsed(source: str, why: str) -> None:
    with pytest.raises(TomlError) as error:
        read_toml(source)
    assert str(error.value) == why
