"""Turns the lines of a recipe into layers: parameter tensors and multiply-accumulates (MACs).

One line is one operation; sizes are the image height x width, S is the sequence length:

  conv NAME i>o kK [sS] [pP] [gG] [+b]   weight (o, i/G, kh, kw), bias (o) only with +b
  cb NAME ...                            conv NAME.conv without bias, then bn NAME.bn
  fc NAME i>o [xR]                       weight (o, i), bias (o); 1 row, or R
  lin NAME i>o [xR] [+b]                 weight (o, i), bias (o) only with +b; S rows, or R
  bn NAME c, gn NAME c, ln NAME c        weight (c), bias (c): batch, group and layer norm
  rms NAME c                             weight (c)
  emb NAME v h                           weight (v, h); a look-up, 0 MACs
  attn NAME h aA [xQxK]                  no tensor; scores and weighted sum of A heads over all S x S,
                                         or Q x K
  tied NAME V h [+b]                     decoder that uses the token embedding; bias (V) with +b
  lstm NAME i h                          weight_ih, weight_hh, bias_ih, bias_hh of 4 gates
  pool NAME kK [sS] [pP] [ceil]          no layer, changes the size; NAME is for errors only
  resize K                               adaptive pooling to K, or the image a network on tokens
                                         starts with; no layer
  mark, back                             remember the size; return to it (branches of a module)

K, S (stride) and P (padding) are N for both axes or HxW, as in k1x7 p0x3. Defaults s1 p0 g1.
R, Q and K of attention are S, or a fixed number of rows such as 1500.
MACs count one sample, forward. Activations, biases, normalisation, pooling, softmax, dropout,
sums and concatenation count 0: the number depends on the architecture alone.
"""

from math import prod


class RecipeError(ValueError):
    """A recipe that describes no network at this input size."""


def pair(text):
    """Reads "3" as (3, 3) and "1x7" as (1, 7): height, width."""
    values = tuple(int(part) for part in text.split("x"))
    return values * 2 if len(values) == 1 else values


def read_options(words, allowed):
    """Reads ["k3", "s2", "+b"] as {"k": "3", "s": "2", "+": "b"}."""
    options = {word[0]: word[1:] for word in words}
    unknown = sorted(set(options) - set(allowed))
    if unknown:
        raise RecipeError(f"unknown option {unknown[0]}{options[unknown[0]]} in {' '.join(words)}")
    return options


def windows(length, kernel, stride, padding, ceil=False):
    """Number of windows along one axis; `ceil` counts a last partial one that starts inside."""
    span = length + 2 * padding - kernel
    if not ceil:
        return span // stride + 1
    count = -(-span // stride) + 1
    return count - 1 if (count - 1) * stride >= length + padding else count


class Network:
    """Layers in registration order, and the image size that the next line reads."""

    def __init__(self, image_size=None, sequence_length=None):
        self.image_size = image_size
        self.sequence_length = sequence_length
        self.size = image_size
        self.marked = image_size
        self.layers = []

    def add(self, line):
        """Applies one line of a recipe."""
        operation, *arguments = line.split()
        if operation not in OPERATIONS:
            raise RecipeError(f"unknown operation {operation} in {line}")
        OPERATIONS[operation](self, *arguments)

    def layer(self, kind, name, macs, scales_with, *tensors):
        """Appends a layer; `tensors` are (name, shape) in registration order."""
        tensors = [{"name": tensor, "shape": list(shape)} for tensor, shape in tensors]
        self.layers.append({"name": name, "kind": kind, "macs": macs, "scales_with": scales_with,
                            "tensors": tensors})

    def slide(self, name, options):
        """Moves a window over the image: the size becomes the number of windows."""
        self.size = tuple(
            windows(*axis, ceil="c" in options)
            for axis in zip(self.size, pair(options["k"]), pair(options.get("s", "1")),
                            pair(options.get("p", "0"))))
        if min(self.size) < 1:
            height, width = (max(length, 0) for length in self.size)
            raise RecipeError(f"{name}: output would be {height}x{width} for input "
                              f"{self.image_size[0]}x{self.image_size[1]}")

    def conv(self, name, channels, *words):
        options = read_options(words, "kspg+")
        inputs, outputs = map(int, channels.split(">"))
        groups = int(options.get("g", 1))
        for count in (inputs, outputs):
            if count % groups:
                raise RecipeError(f"{name}: {count} channels do not divide into {groups} groups")
        self.slide(name, options)
        weight = (outputs, inputs // groups, *pair(options["k"]))
        tensors = [("weight", weight)]
        if "+" in options:
            tensors.append(("bias", (outputs,)))
        self.layer("conv", name, prod(weight) * prod(self.size), "sample", *tensors)

    def conv_and_norm(self, name, channels, *words):
        self.conv(f"{name}.conv", channels, *words)
        self.batch_norm(f"{name}.bn", channels.split(">")[1])

    def rows(self, text):
        """How many rows "S" or "1500" are, and how their number grows."""
        return (self.sequence_length, "tokens") if text == "S" else (int(text), "sample")

    def fully_connected(self, name, channels, *words):
        self.product(name, channels, read_options(words, "x").get("x", "1"), bias=True)

    def linear(self, name, channels, *words):
        options = read_options(words, "x+")
        self.product(name, channels, options.get("x", "S"), bias="+" in options)

    def product(self, name, channels, rows, bias):
        inputs, outputs = map(int, channels.split(">"))
        count, scales_with = self.rows(rows)
        tensors = [("weight", (outputs, inputs))]
        if bias:
            tensors.append(("bias", (outputs,)))
        self.layer("linear", name, inputs * outputs * count, scales_with, *tensors)

    def norm(self, kind, name, channels):
        shape = (int(channels),)
        self.layer(kind, name, 0, "sample", ("weight", shape), ("bias", shape))

    def batch_norm(self, name, channels):
        self.norm("batchnorm", name, channels)

    def group_norm(self, name, channels):
        self.norm("groupnorm", name, channels)

    def layer_norm(self, name, channels):
        self.norm("layernorm", name, channels)

    def rms_norm(self, name, channels):
        self.layer("rmsnorm", name, 0, "sample", ("weight", (int(channels),)))

    def embedding(self, name, entries, width):
        self.layer("embedding", name, 0, "sample", ("weight", (int(entries), int(width))))

    def attention(self, name, width, heads, *words):
        sides = read_options(words, "x").get("x", "SxS").split("x")
        pairs = prod(self.rows(side)[0] for side in sides)
        self.layer("attention", name, 2 * pairs * int(width),
                   ("sample", "tokens", "tokens2")[sides.count("S")])
        self.layers[-1]["heads"] = int(heads.removeprefix("a"))

    def tied_decoder(self, name, vocabulary, width, *words):
        vocabulary = int(vocabulary)
        tensors = [("bias", (vocabulary,))] if "+" in read_options(words, "+") else []
        self.layer("tied_decoder", name, vocabulary * int(width) * self.sequence_length, "tokens",
                   *tensors)

    def lstm(self, name, inputs, width):
        inputs, width = int(inputs), int(width)
        gates = 4 * width
        self.layer("lstm", name, gates * (inputs + width) * self.sequence_length, "tokens",
                   ("weight_ih", (gates, inputs)), ("weight_hh", (gates, width)),
                   ("bias_ih", (gates,)), ("bias_hh", (gates,)))

    def pool(self, name, *words):
        self.slide(name, read_options(words, "kspc"))

    def resize(self, length):
        self.size = pair(length)

    def mark(self):
        self.marked = self.size

    def back(self):
        self.size = self.marked


OPERATIONS = {
    "conv": Network.conv,
    "cb": Network.conv_and_norm,
    "fc": Network.fully_connected,
    "lin": Network.linear,
    "bn": Network.batch_norm,
    "gn": Network.group_norm,
    "ln": Network.layer_norm,
    "rms": Network.rms_norm,
    "emb": Network.embedding,
    "attn": Network.attention,
    "tied": Network.tied_decoder,
    "lstm": Network.lstm,
    "pool": Network.pool,
    "resize": Network.resize,
    "mark": Network.mark,
    "back": Network.back,
}
