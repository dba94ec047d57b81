#!/usr/bin/env python3
"""Puts the engine, the page and its data into one file.

    make_page.py --engine engine.js --data FOLDER --version V -o whatif.html

engine.wasm lies beside engine.js; FOLDER holds models/, topologies/ and traces/.
"""
import argparse
import base64
import gzip
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent


def words(settings, name):
    """The values of one list of choices in settings.js."""
    part = re.search(rf"const {name} = \[(.*?)\];", settings, re.S).group(1)
    return re.findall(r"choice\('([^']+)'", part)


def compact(path):
    return json.dumps(json.loads(path.read_text()), separators=(",", ":"), ensure_ascii=False)


def embedded_files(data, settings):
    files = {f"/{name}": compact(data / "traces" / name) for name in words(settings, "TRACES")}
    for model in words(settings, "MODELS"):
        files[f"/data/models/{model}.json"] = compact(data / f"models/{model}.json")
    for network in words(settings, "NETWORKS") + words(settings, "INSIDE"):
        name = f"topologies/{network}.calibration.json"
        files[f"/data/{name}"] = compact(data / name)
    for folder in ("topologies/nodes", "topologies/conditions"):
        for path in sorted((data / folder).glob("*.json")):
            files[f"/data/{folder}/{path.name}"] = compact(path)
    return files


def node_types(data):
    """Node types as choices of the page."""
    for path in sorted((data / "topologies/nodes").glob("*.json")):
        node = json.loads(path.read_text())
        gpus, cards = (node[key]["value"] if isinstance(node[key], dict) else node[key]
                       for key in ("gpus_per_node", "nics_per_node"))
        gpu = re.sub("^(NVIDIA|AMD) ", "", node["gpu"])
        yield {"value": node["name"], "gpus": gpus, "cards": cards,
               "label": f"{node['name']}: {gpus} {gpu}, {cards} card{'s' if cards > 1 else ''}"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("-o", dest="output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    parts = {path.name: path.read_text() for path in (HERE / "page").iterdir()}
    types = ", ".join(json.dumps(each) for each in node_types(options.data))
    parts["settings.js"] = parts["settings.js"].replace("/*node types*/", types)
    # "</script" and "<!--" would end an element of the page or change how it is read.
    in_script = {"engine.js": options.engine.read_text(), **parts}
    in_script = {name: text.replace("</script", "<\\/script").replace("<!--", "<\\!--")
                 for name, text in in_script.items()}
    picture = (options.data / "docs/images/front.svg").read_text()
    values = {
        **in_script,
        "version": options.version,
        "picture": picture[picture.index("<svg"):],
        "files": json.dumps(embedded_files(options.data, parts["settings.js"])).replace("<", "\\u003c"),
        "wasm": base64.b64encode(gzip.compress(options.engine.with_suffix(".wasm").read_bytes(), mtime=0)).decode(),
    }
    page = re.sub(r"\{\{([\w.]+)\}\}", lambda found: values[found.group(1)], parts["page.html"])
    options.output.write_text(page)


if __name__ == "__main__":
    main()
