# Writes files completely or not at all.
import json
import os


def write_whole(path, text):
    """Replaces the file, whose folder must exist."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def write_json(path, content, indent=1):
    write_whole(path, json.dumps(content, indent=indent, ensure_ascii=False) + "\n")
