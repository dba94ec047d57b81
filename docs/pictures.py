"""How the pictures of the documentation are written."""
import io
import pathlib

from PIL import Image

FOLDER = pathlib.Path(__file__).resolve().parent / "images"


def save(figure, name):
    """docs/images/NAME with 256 colours, a third of the bytes, since the packages hold these pictures. No version of a
    program is in the file: the same numbers give the same bytes."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    Image.open(drawn).convert("RGB").quantize(256).save(FOLDER / name, optimize=True)
