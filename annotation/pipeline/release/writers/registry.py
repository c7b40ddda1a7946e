"""The formats that a release can be written in."""

from annotation.pipeline.release.writers.entities import entities
from annotation.pipeline.release.writers.writer import ReleaseFormat

DEFAULT = "entities"
FORMATS: dict[str, ReleaseFormat] = {
    DEFAULT: ReleaseFormat("Sentences/ and Annotations/, as Flickr30k Entities has them", entities),
}
