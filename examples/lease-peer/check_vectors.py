"""Compares this peer with the examples beside the page: python3 check_vectors.py ../../docs/lease-wire-format/vectors.json"""

import json
import sys

from lease_wire import Unreadable, next_fence, object_name, parse_record


def text_of(vector):
    return vector["text"] if "text" in vector else json.dumps(vector["record"])


def refusal_of(text):
    try:
        parse_record(text, "here")
        return None
    except Unreadable as error:
        return str(error)


def main(path):
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    records, wrong = vectors["records"], []
    for each in vectors["names"]:
        if object_name(each["prefix"], each["id"] * each.get("repeat", 1)) != each["object"]:
            wrong.append(each["object"])
    for each in records["written"]:
        if parse_record(json.dumps(each["record"]), "here") != each["record"]:
            wrong.append(each["what"])
    for each in records["tolerated"]:
        if parse_record(text_of(each), "here") != each["readAs"]:
            wrong.append(each["what"])
    for each in records["refused"]:
        if f"({each['flaw']})" not in (refusal_of(text_of(each)) or ""):
            wrong.append(each["what"])
    for each in vectors["fences"]:
        if next_fence(each["record"] or 0, each["seen"], each["serviceMs"]) != each["fence"]:
            wrong.append(each["what"])
    for name in wrong:
        print(f"not as in the examples: {name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
