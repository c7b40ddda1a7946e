"""The choice of a relation finder: a dependency parser, or patterns between phrases."""

from grounding.pipeline.text import relations_chunked, relations_parsed
from grounding.pipeline.text.relations import RelationFinder


def relation_finder(way: str | None = None) -> RelationFinder:
    """Return the finder called `way`, "parser" or "grammar"; the default is the parser if it is
    installed. Name the finder wherever you report results: the two find different phrases.
    """
    if way is None:
        way = "parser" if relations_parsed.is_installed() else "grammar"
    if way == "grammar":
        return relations_chunked.find_relations
    if way == "parser":
        return relations_parsed.ParsedRelations()
    raise ValueError(f"unknown relation finder “{way}”; choose parser or grammar")
