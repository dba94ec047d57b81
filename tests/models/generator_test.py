#!/usr/bin/env python3
"""Tests of the layer tables in models/ and of the generator that writes them.

Totals and anchors are those of the published networks; where no published integer is pinned, the
expected value is an equation in the shape of the network (width h, blocks L, vocabulary V,
sequence length S). The tests read the committed tables, except where they ask for another input.
"""

import contextlib
import importlib.util
import io
import json
import sys
import tempfile
import unittest
from math import prod
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"
LAYER_LOG = ROOT.parent / "shared" / "data" / "b-caffe" / "tmp8comm.log"

sys.dont_write_bytecode = True
sys.path.insert(0, str(MODELS))

import generate
from network import Network, RecipeError, windows
from recipes import RECIPES, Recipe

KINDS = {"conv", "linear", "batchnorm", "groupnorm", "layernorm", "rmsnorm", "embedding", "attention",
         "tied_decoder", "lstm"}
MIB = 2**20


# What a table says


def read_table(name):
    return json.loads((MODELS / f"{name}.json").read_text())


TABLES = {name: read_table(name) for name in RECIPES}


def tensors_of(table):
    """(full name, shape) of every parameter tensor in registration order."""
    return [(f"{layer['name']}.{tensor['name']}", tensor["shape"])
            for layer in table["layers"] for tensor in layer["tensors"]]


def elements_of(table, prefix=""):
    return sum(prod(shape) for name, shape in tensors_of(table) if name.startswith(prefix))


def macs_of(table, prefix=""):
    return sum(layer["macs"] for layer in table["layers"] if layer["name"].startswith(prefix))


def layer_of(table, name):
    return next(layer for layer in table["layers"] if layer["name"] == name)


def weight_elements(layer):
    return prod(layer["tensors"][0]["shape"]) if layer["tensors"] else 0


def summary_of(table):
    """The row of EXPECTED that the layers of a table add up to."""
    tensors = tensors_of(table)
    largest = max(tensors, key=lambda tensor: prod(tensor[1]))  # the first of that size
    return (sum(prod(shape) for _, shape in tensors), len(tensors),
            sum(len(shape) >= 2 for _, shape in tensors), sum(bool(layer["tensors"]) for layer in table["layers"]),
            prod(largest[1]), largest[0], sum(4 * prod(shape) <= 4096 for _, shape in tensors),
            sum(layer["macs"] for layer in table["layers"]))


# elements, tensors, weight tensors, layers with tensors, largest tensor, tensors <= 4 KiB, MACs
EXPECTED = {
    "alexnet": (61_100_840, 16, 8, 8, 37_748_736, "fc6.weight", 6, 714_188_480),
    "alexnet_caffe": (60_965_224, 16, 8, 8, 37_748_736, "fc6.weight", 6, 724_406_816),
    "vgg16": (138_357_544, 32, 16, 16, 102_760_448, "fc6.weight", 14, 15_470_264_320),
    "googlenet_caffe_aux": (13_378_280, 128, 64, 64, 2_097_152, "loss1/fc.weight", 64, 1_591_044_096),
    "googlenet_caffe": (6_998_552, 116, 58, 58, 1_024_000, "loss3/classifier.weight", 58, 1_582_671_872),
    "googlenet": (6_624_904, 173, 58, 115, 1_024_000, "fc.weight", 115, 1_498_376_192),
    "googlenet_aux": (13_004_888, 187, 64, 123, 2_097_152, "aux1.fc1.weight", 123, 1_506_748_416),
    "resnet18": (11_689_512, 62, 21, 41, 2_359_296, "layer4.0.conv2.weight", 41, 1_814_073_344),
    "mlp_mnist": (648_010, 6, 3, 3, 392_000, "fc1.weight", 3, 647_000),
    "softmax_cifar100": (307_300, 2, 1, 1, 307_200, "fc.weight", 1, 307_200),
    "resnet50": (25_557_032, 161, 54, 107, 2_359_296, "layer4.0.conv2.weight", 99, 4_089_184_256),
    "resnet101": (44_549_160, 314, 105, 209, 2_359_296, "layer4.0.conv2.weight", 201, 7_801_405_440),
    "resnet152": (60_192_808, 467, 156, 311, 2_359_296, "layer4.0.conv2.weight", 303, 11_513_626_624),
    "densenet201": (20_013_928, 604, 201, 402, 1_920_000, "classifier.weight", 299, 4_291_365_888),
    "inception_v4": (42_679_816, 449, 150, 299, 1_536_000, "last_linear.weight", 300, 12_253_974_624),
    "efficientnet_b4": (19_341_616, 418, 161, 257, 1_792_000, "classifier.1.weight", 219, 4_393_771_024),
    "bert_base": (109_482_240, 199, 76, 101, 23_440_896, "embeddings.word_embeddings.weight", 111, 11_174_215_680),
    "bert_base_pretrain": (110_106_428, 206, 78, 105, 23_440_896,
                           "embeddings.word_embeddings.weight", 115, 14_250_149_376),
    "bert_base_pretrain_v30528": (110_111_042, 206, 78, 105, 23_445_504,
                                  "embeddings.word_embeddings.weight", 115, 14_250_739_200),
    "gpt2": (124_439_808, 148, 50, 75, 38_597_376, "wte.weight", 74, 145_824_153_600),
    "gpt2_large": (774_030_080, 436, 146, 219, 64_328_960, "wte.weight", 0, 887_285_350_400),
    "gpt2_xl": (1_557_611_200, 580, 194, 291, 80_411_200, "wte.weight", 0, 1_753_351_782_400),
    "vgg16_cifar": (14_728_266, 54, 14, 27, 2_359_296, "conv4_2.weight", 40, 313_201_664),
    "resnet20": (269_722, 59, 20, 39, 36_864, "layer3.0.conv2.weight", 41, 40_551_040),
    "lstm_ptb": (66_034_000, 11, 6, 4, 15_000_000, "embedding.weight", 0, 1_785_000_000),
}


# Equations of the tables that have no pinned integers; each is also held against a pinned row


def is_small(elements):
    return 4 * elements <= 4096


def bert_summary(blocks, h, vocabulary, pretrain, s=128):
    """A block: 4 of h x h + h (q, k, v, dense), h x 4h + 4h, 4h x h + h, two norms of 2h."""
    elements = (vocabulary + 512 + 2) * h + 2 * h + blocks * (12 * h**2 + 13 * h) + h**2 + h
    macs = blocks * (12 * h**2 * s + 2 * s**2 * h) + h**2
    small = (9 * blocks + 3) * is_small(h) + blocks * is_small(4 * h) + is_small(2 * h)
    tensors, weights, layers = 3 + 2 + 16 * blocks + 2, 3 + 6 * blocks + 1, 4 + 8 * blocks + 1
    if pretrain:  # decoder bias, h x h transform, its norm, h x 2 next-sentence classifier
        elements += vocabulary + (h**2 + h) + 2 * h + (2 * h + 2)
        macs += vocabulary * h * s + h**2 * s + 2 * h
        small += 3 * is_small(h) + is_small(2 * h) + is_small(2)
        tensors, weights, layers = tensors + 7, weights + 2, layers + 4
    return (elements, tensors, weights, layers, vocabulary * h, "embeddings.word_embeddings.weight", small, macs)


def gpt2_summary(blocks, h, vocabulary=50257, s=1024):
    """A block: h x 3h + 3h, h x h + h, h x 4h + 4h, 4h x h + h, two norms of 2h."""
    elements = (vocabulary + 1024) * h + blocks * (12 * h**2 + 13 * h) + 2 * h
    macs = blocks * (12 * h**2 * s + 2 * s**2 * h) + vocabulary * h * s
    small = (6 * blocks + 2) * is_small(h) + blocks * (is_small(3 * h) + is_small(4 * h))
    return (elements, 2 + 12 * blocks + 2, 2 + 4 * blocks, 2 + 6 * blocks + 1, vocabulary * h,
            "wte.weight", small, macs)


def densenet_summary(g, c, depths, largest):
    """Layer j of a block of n reads c + j g channels: their sum is n c + g n (n - 1) / 2."""
    elements, macs, small, size = 3 * c * 49 + 2 * c, 3 * c * 49 * 112**2, 2 * is_small(c), 56
    for block, n in enumerate(depths, 1):
        read = n * c + g * n * (n - 1) // 2
        elements += (2 + 4 * g) * read + n * (8 * g + 36 * g**2)
        macs += size**2 * (4 * g * read + n * 36 * g**2)
        small += 2 * n * is_small(4 * g)
        small += 2 * sum(is_small(c + j * g) for j in range(n))
        c += n * g
        if block < len(depths):  # norm, halving 1x1 at the block's size, 2x2 pool
            elements += 2 * c + c * c // 2
            macs += size**2 * (c * c // 2)
            small += 2 * is_small(c)
            c, size = c // 2, size // 2
    elements += 2 * c + 1000 * c + 1000
    macs += 1000 * c
    small += 2 * is_small(c) + is_small(1000)
    n, halvings = sum(depths), len(depths) - 1
    return (elements, 3 + 6 * n + 3 * halvings + 2 + 2, 1 + 2 * n + halvings + 1,
            2 + 4 * n + 2 * halvings + 1 + 1, *largest, small, macs)


def llama_summary(blocks, h, heads, kv, f, vocabulary, head=None, bias=False, qk_norm=False,
                  tied=False, norms=2, s=4096):
    """A block: h x a d, twice h x kv d, a d x h, three of h x f, two or four norms of h."""
    d = head or h // heads
    wide, narrow = heads * d, kv * d
    weights = 2 * h * wide + 2 * h * narrow + 3 * h * f
    rest = norms * h + bias * (wide + 2 * narrow) + qk_norm * 2 * d
    elements = vocabulary * h * (1 if tied else 2) + blocks * (weights + rest) + h
    macs = blocks * (weights * s + 2 * s**2 * wide) + vocabulary * h * s
    small = ((norms * blocks + 1) * is_small(h) + blocks * qk_norm * 2 * is_small(d)
             + blocks * bias * (is_small(wide) + 2 * is_small(narrow)))
    own = 2 - tied
    layers = 7 + norms + 2 * qk_norm
    return (elements, own + blocks * (layers + 3 * bias) + 1, own + 7 * blocks,
            own + blocks * layers + 1, vocabulary * h, "model.embed_tokens.weight", small, macs)


def vit_summary(blocks, h, patch, s):
    """A block: h x 3h + 3h, h x h + h, h x 4h + 4h, 4h x h + h, two norms of 2h."""
    elements = ((s + 1) * h + 3 * h * patch**2 + h + blocks * (12 * h**2 + 13 * h) + 2 * h + 1000 * h + 1000)
    macs = (s - 1) * 3 * h * patch**2 + blocks * (12 * h**2 * s + 2 * s**2 * h) + 1000 * h
    largest, name = max((4 * h**2, "encoder.layers.encoder_layer_0.mlp.0.weight"),
                        (3 * h * patch**2, "conv_proj.weight"))
    small = ((6 * blocks + 4) * is_small(h) + blocks * (is_small(3 * h) + is_small(4 * h)) + is_small(1000))
    return (elements, 8 + 12 * blocks, 4 + 4 * blocks, 5 + 6 * blocks, largest, name, small, macs)


def dit_summary(blocks, h, s=256):
    """A block: the 12 h^2 of a transformer with 9h biases, and h x 6h + 6h of its modulation."""
    elements = (16 * h + h + 256 * h + h + h**2 + h + 1001 * h + blocks * (18 * h**2 + 15 * h)
                + 32 * h + 32 + 2 * h**2 + 2 * h)
    macs = (s * 16 * h + 256 * h + h**2 + blocks * (12 * h**2 * s + 2 * s**2 * h + 6 * h**2) + 32 * h * s + 2 * h**2)
    return (elements, 7 + 10 * blocks + 4, 4 + 5 * blocks + 2, 4 + 5 * blocks + 2, 6 * h**2,
            "blocks.0.adaLN_modulation.1.weight", is_small(32), macs)


def seq2seq_blocks(blocks, h, f, key_bias=True):
    """(elements, tensors, layers) of encoder and decoder blocks with biases and norms of 2h."""
    attention = 4 * h**2 + (3 + key_bias) * h + 2 * h
    rest = 2 * h * f + f + h + 2 * h
    return (blocks * (3 * attention + 2 * rest), blocks * (3 * (9 + key_bias) + 2 * 6), blocks * (3 * 5 + 2 * 3))


def unet_summary(words=77, text=2048, time=1280):
    """Residual blocks (in, out, positions) and transformers (width, blocks, positions) one by one."""
    residual = ([(320, 320, 128)] * 2 + [(320, 640, 64), (640, 640, 64), (640, 1280, 32)]
                + [(1280, 1280, 32)] * 3 + [(2560, 1280, 32)] * 2 + [(1920, 1280, 32)]
                + [(1920, 640, 64), (1280, 640, 64), (960, 640, 64), (960, 320, 128)] + [(640, 320, 128)] * 2)
    convolutions = [(4, 320, 128), (320, 320, 64), (640, 640, 32), (1280, 1280, 64),
                    (640, 640, 128), (320, 4, 128)]  # ends, halving and doubling
    sizes = [(inputs * 1280, 1) for inputs in (320, 1280, 2816, 1280)] + [(1280, 0)] * 4
    sizes += [(320, 0)] * 2
    sizes += [size for i, o, n in convolutions for size in ((9 * i * o, n * n), (o, 0))]
    for i, o, n in residual:
        sizes += [(i, 0)] * 2 + [(o, 0)] * 5
        sizes += [(9 * i * o, n * n), (9 * o * o, n * n), (time * o, 1)]
        sizes += [(i * o, n * n), (o, 0)] if i != o else []
    scores = layers = 0
    for h, blocks, n in [(640, 2, 64)] * 5 + [(1280, 10, 32)] * 6:
        rows = n * n
        block = [(h * h, rows)] * 6 + [(text * h, words)] * 2 + [(8 * h * h, rows), (4 * h * h, rows)]
        sizes += blocks * (block + [(8 * h, 0)] + [(h, 0)] * 9)
        sizes += [(h * h, rows)] * 2 + [(h, 0)] * 4
        scores += blocks * 2 * rows * (rows + words) * h
        layers += blocks * 13 + 3
    layers += 4 + len(convolutions) + 1 + sum(5 + (i != o) for i, o, _ in residual)
    elements = [size for size, _ in sizes]
    return (sum(elements), len(sizes), sum(rows > 0 for _, rows in sizes), layers, max(elements),
            "up_blocks.0.resnets.0.conv1.weight", sum(map(is_small, elements)),
            sum(size * rows for size, rows in sizes) + scores)


def bart_summary(blocks, h, f, vocabulary, s=1024):
    elements, tensors, layers = seq2seq_blocks(blocks, h, f)
    elements += vocabulary * h + 2 * 1026 * h + 2 * 2 * h
    macs = blocks * ((12 * h**2 + 4 * h * f) * s + 6 * s**2 * h) + vocabulary * h * s
    small = (24 * blocks + 4) * is_small(h) + 2 * blocks * is_small(f)
    return (elements, 1 + 2 * 3 + tensors, 3 + 16 * blocks, 1 + 2 * 2 + layers, vocabulary * h,
            "model.shared.weight", small, macs)


def whisper_summary(blocks, h, f, vocabulary, mels=128, s=448, sound=1500):
    """The decoder makes keys and values of `sound` positions that the encoder was run on."""
    elements, tensors, layers = seq2seq_blocks(blocks, h, f, key_bias=False)
    elements += 3 * mels * h + h + 3 * h**2 + h + vocabulary * h + 448 * h + 2 * 2 * h
    encoder = (4 * h**2 + 2 * h * f) * sound + 2 * sound**2 * h
    decoder = (6 * h**2 + 2 * h * f) * s + 2 * h**2 * sound + 2 * s**2 * h + 2 * s * sound * h
    macs = (3 * mels * h * 2 * sound + 3 * h**2 * sound + blocks * (encoder + decoder) + vocabulary * h * s)
    return (elements, 4 + 2 + 2 * 2 + tensors, 4 + 16 * blocks, 2 + 2 + 2 + layers,
            vocabulary * h, "model.decoder.embed_tokens.weight", 0, macs)


def t5_summary(blocks, h, f, vocabulary, heads, s=512):
    """No biases; 32 relative positions for each head of either side."""
    elements = (vocabulary * h + blocks * (12 * h**2 + 4 * h * f + 5 * h) + 2 * 32 * heads + 2 * h)
    macs = blocks * ((12 * h**2 + 4 * h * f) * s + 6 * s**2 * h) + vocabulary * h * s
    tensors = 1 + 21 * blocks + 4
    return (elements, tensors, 3 + 16 * blocks, tensors, vocabulary * h, "shared.weight",
            (5 * blocks + 2) * is_small(h) + 2 * is_small(32 * heads), macs)


SEQ2SEQ = {  # parameters, and positions without a gradient among them
    "t5_large": (t5_summary(24, 1024, 4096, 32128, 16), 737_668_096, 0),
    "bart_large": (bart_summary(12, 1024, 4096, 50265), 406_291_456, 0),
    "whisper_large_v3": (whisper_summary(32, 1280, 5120, 51866), 1_543_490_560, 1500 * 1280),
}

LLAMA = {  # blocks, h, heads, key heads, f, vocabulary; number of parameters
    "llama2_7b": (llama_summary(32, 4096, 32, 32, 11008, 32000), 6_738_415_616),
    "llama2_13b": (llama_summary(40, 5120, 40, 40, 13824, 32000), 13_015_864_320),
    "llama2_70b": (llama_summary(80, 8192, 64, 8, 28672, 32000), 68_976_648_192),
    "llama3_8b": (llama_summary(32, 4096, 32, 8, 14336, 128256), 8_030_261_248),
    "llama3_70b": (llama_summary(80, 8192, 64, 8, 28672, 128256), 70_553_706_496),
    "llama3_1_405b": (llama_summary(126, 16384, 128, 8, 53248, 128256), 405_853_388_800),
    "mistral_7b": (llama_summary(32, 4096, 32, 8, 14336, 32000), 7_241_732_096),
    "qwen2_5_7b": (llama_summary(28, 3584, 28, 4, 18944, 152064, bias=True), 7_615_616_512),
    "qwen2_5_0_5b": (llama_summary(24, 896, 14, 2, 4864, 151936, bias=True, tied=True), 494_032_768),
    "qwen3_8b": (llama_summary(36, 4096, 32, 8, 12288, 151936, head=128, qk_norm=True), 8_190_735_360),
    "llama3_2_1b": (llama_summary(16, 2048, 32, 8, 8192, 128256, tied=True), 1_235_814_400),
    "llama3_2_3b": (llama_summary(28, 3072, 24, 8, 8192, 128256, tied=True), 3_212_749_824),
    "mistral_small_24b": (llama_summary(40, 5120, 32, 8, 32768, 131072, head=128), 23_572_403_200),
    "qwen3_0_6b": (llama_summary(28, 1024, 16, 8, 3072, 151936, head=128, qk_norm=True, tied=True), 596_049_920),
    "qwen3_4b": (llama_summary(36, 2560, 32, 8, 9728, 151936, head=128, qk_norm=True, tied=True), 4_022_468_096),
    "qwen3_14b": (llama_summary(40, 5120, 40, 8, 17408, 151936, head=128, qk_norm=True), 14_768_307_200),
    "qwen3_32b": (llama_summary(64, 5120, 64, 8, 25600, 151936, head=128, qk_norm=True), 32_762_123_264),
    "gemma2_9b": (llama_summary(42, 3584, 16, 8, 14336, 256000, head=256, tied=True, norms=4), 9_241_705_984),
    # the number of the technical report without the embedding, and 262208 rows of it
    "gemma3_4b": (llama_summary(34, 2560, 8, 4, 10240, 262208, head=256, qk_norm=True, tied=True,
                                norms=4), 3_209_010_688 + 262_208 * 2560),
    "gemma3_12b": (llama_summary(48, 3840, 16, 8, 15360, 262208, head=256, qk_norm=True, tied=True,
                                 norms=4), 10_759_155_456 + 262_208 * 3840),
}

VIT = {  # blocks, h, patch, tokens; parameters and 10^9 MACs that torchvision states
    "vit_b_16": (vit_summary(12, 768, 16, 197), 86_567_656, 17.56),
    "vit_l_16": (vit_summary(24, 1024, 16, 197), 304_326_632, 61.55),
    "vit_h_14": (vit_summary(32, 1280, 14, 257), 632_045_800, 167.30),
}

EQUATIONS = {
    **{name: row for name, (row, _, _) in VIT.items()},
    **{name: row for name, (row, _, _) in SEQ2SEQ.items()},
    "dit_xl_2": dit_summary(28, 1152),
    "sdxl_unet": unet_summary(),
    **{name: row for name, (row, _) in LLAMA.items()},
    "bert_base": bert_summary(12, 768, 30522, pretrain=False),
    "bert_base_pretrain": bert_summary(12, 768, 30522, pretrain=True),
    "bert_base_pretrain_v30528": bert_summary(12, 768, 30528, pretrain=True),
    "bert_large": bert_summary(24, 1024, 30522, pretrain=False),
    "bert_large_pretrain": bert_summary(24, 1024, 30522, pretrain=True),
    "bert_large_pretrain_v30528": bert_summary(24, 1024, 30528, pretrain=True),
    "gpt2": gpt2_summary(12, 768),
    "gpt2_medium": gpt2_summary(24, 1024),
    "gpt2_large": gpt2_summary(36, 1280),
    "gpt2_xl": gpt2_summary(48, 1600),
    # the last halving convolution outweighs the classifier: 2112 x 1056 > 2208 x 1000
    "densenet161": densenet_summary(48, 96, (6, 12, 36, 24),
                                    (2112 * 1056, "features.transition3.conv.weight")),
    "densenet201": densenet_summary(32, 64, (6, 12, 48, 32), (1920 * 1000, "classifier.weight")),
}


class Totals(unittest.TestCase):
    def test_every_table_has_a_pinned_row_or_an_equation(self):
        self.assertEqual(set(RECIPES), set(EXPECTED) | set(EQUATIONS))
        self.assertEqual(len(RECIPES), 26 + 6 + len(LLAMA) + len(VIT) + len(SEQ2SEQ))

    def test_decoders_have_their_number_of_parameters(self):
        for name, (_, parameters) in LLAMA.items():
            self.assertEqual(elements_of(TABLES[name]), parameters, name)

    def test_the_unet_has_its_number_of_parameters(self):
        self.assertEqual(elements_of(TABLES["sdxl_unet"]), 2_567_463_684)

    def test_encoders_with_decoders_have_their_number_of_parameters(self):
        for name, (_, parameters, fixed) in SEQ2SEQ.items():
            self.assertEqual(elements_of(TABLES[name]) + fixed, parameters, name)

    def test_transformers_on_images_have_their_published_parameters_and_macs(self):
        for name, (_, parameters, macs) in VIT.items():
            self.assertEqual(elements_of(TABLES[name]), parameters, name)
            self.assertEqual(round(macs_of(TABLES[name]) / 1e9, 2), macs, name)
        # of the log of a training, with the fixed positions that get no gradient; of the paper
        self.assertEqual(elements_of(TABLES["dit_xl_2"]) + 256 * 1152, 675_129_632)
        self.assertEqual(round(macs_of(TABLES["dit_xl_2"]) / 1e9, 1), 118.6)

    def test_layers_add_up_to_the_published_totals_and_to_the_equations(self):
        for name, row in [*EXPECTED.items(), *EQUATIONS.items()]:
            with self.subTest(name):
                self.assertEqual(summary_of(TABLES[name]), row)

    def test_totals_in_the_file_are_the_sums_over_its_layers(self):
        for name, table in TABLES.items():
            with self.subTest(name):
                elements, tensors, *_, macs = summary_of(table)
                self.assertEqual(table["totals"], {
                    "elements": elements, "tensors": tensors, "layers": len(table["layers"]),
                    "macs": macs})

    def test_original_stride_placement_would_give_fewer_macs(self):
        # stride on the first 1x1: in block 0 of stages 2 to 4 conv1 runs on 1/4 of the area
        # and nothing else of that block changes its output size
        table = TABLES["resnet50"]
        strided = [layer_of(table, f"layer{stage}.0.conv1")["macs"] for stage in (2, 3, 4)]
        self.assertEqual(table["totals"]["macs"] - sum(3 * macs // 4 for macs in strided), 3_857_973_248)

    def test_attention_is_two_s_squared_h_per_block(self):
        for name, blocks, s, h, macs in (("bert_base", 12, 128, 768, 301_989_888),
                                         ("gpt2", 12, 1024, 768, 19_327_352_832)):
            attention = [layer["macs"] for layer in TABLES[name]["layers"] if layer["kind"] == "attention"]
            self.assertEqual(attention, [2 * s**2 * h] * blocks)
            self.assertEqual(sum(attention), macs)


# table, layer, weight elements, MACs; None where only the other is pinned
ANCHORS = (
    ("resnet50", "conv1", 9_408, 118_013_952),
    ("resnet50", "layer1.0.conv1", 4_096, 12_845_056),
    ("resnet50", "layer1.0.conv2", 36_864, 115_605_504),
    ("resnet50", "layer1.0.downsample.0", 16_384, 51_380_224),
    ("resnet50", "layer4.2.conv3", 1_048_576, 51_380_224),
    ("resnet50", "fc", 2_048_000, 2_048_000),
    ("vgg16", "conv1_1", None, 86_704_128),
    ("vgg16", "conv1_2", None, 1_849_688_064),
    ("vgg16", "fc6", None, 102_760_448),
    ("alexnet", "conv1", None, 70_276_800),
    ("alexnet_caffe", "conv2", 307_200, 223_948_800),
    ("googlenet_caffe", "inception_3a/5x5", 12_800, 10_035_200),
    ("googlenet", "inception3a.branch3.1.conv", 4_608, 3_612_672),
    ("densenet201", "features.denseblock1.denselayer1.conv1", 8_192, 25_690_112),
    ("densenet201", "features.transition1.conv", 32_768, 102_760_448),
    ("inception_v4", "features.0.conv", 864, 19_181_664),
    ("inception_v4", "features.4.branch1.1.conv", 28_672, 152_793_088),
    ("inception_v4", "features.5.conv.conv", None, 406_425_600),
    ("inception_v4", "features.19.branch1_1a.conv", 294_912, 18_874_368),
    ("bert_base", "encoder.layer.0.attention.self.query", 589_824, 75_497_472),
    ("bert_base", "encoder.layer.0.attention.scores", None, 25_165_824),
    ("bert_base", "encoder.layer.0.intermediate.dense", 2_359_296, 301_989_888),
    ("gpt2", "h.0.attn.c_attn", 1_769_472, 1_811_939_328),
    ("gpt2", "lm_head", None, 39_523_713_024),
)

# elements and MACs of the modules whose names start so
RESNET50_STAGES = {
    ("conv1.", "bn1."): (9_536, 118_013_952),
    ("layer1.",): (215_808, 667_942_912),
    ("layer2.",): (1_219_584, 1_027_604_480),
    ("layer3.",): (7_098_368, 1_464_336_384),
    ("layer4.",): (14_964_736, 809_238_528),
    ("fc.",): (2_049_000, 2_048_000),
}


class Layers(unittest.TestCase):
    def test_anchor_layers_have_their_elements_and_macs(self):
        for name, layer_name, elements, macs in ANCHORS:
            with self.subTest(f"{name} {layer_name}"):
                layer = layer_of(TABLES[name], layer_name)
                self.assertEqual(layer["macs"], macs)
                if elements is not None:
                    self.assertEqual(weight_elements(layer), elements)

    def test_stages_of_resnet50_have_their_elements_and_macs(self):
        table = TABLES["resnet50"]
        for prefixes, expected in RESNET50_STAGES.items():
            with self.subTest(prefixes):
                self.assertEqual(sum(elements_of(table, prefix) for prefix in prefixes), expected[0])
                self.assertEqual(sum(layer["macs"] for layer in table["layers"]
                                     if f"{layer['name']}.".startswith(prefixes)), expected[1])

    def test_downsample_of_a_resnet_block_is_registered_last(self):
        names = [layer["name"] for layer in TABLES["resnet50"]["layers"]]
        start = names.index("layer2.0.conv1")
        self.assertEqual(
            names[start:start + 9],
            [f"layer2.0.{part}" for part in ("conv1", "bn1", "conv2", "bn2", "conv3", "bn3",
                                             "downsample.0", "downsample.1")] + ["layer2.1.conv1"])

    def test_tensor_names_are_unique_and_shapes_positive(self):
        for name, table in TABLES.items():
            with self.subTest(name):
                names = [tensor for tensor, _ in tensors_of(table)]
                self.assertEqual(len(set(names)), len(names))
                self.assertTrue(all(shape and min(shape) >= 1 for _, shape in tensors_of(table)))

    def test_every_layer_owns_tensors_or_computes_and_is_of_a_known_kind(self):
        for name, table in TABLES.items():
            with self.subTest(name):
                for layer in table["layers"]:
                    self.assertTrue(layer["tensors"] or layer["macs"] > 0, layer["name"])
                    self.assertIn(layer["kind"], KINDS)
                    self.assertIn(layer["scales_with"], {"sample", "tokens", "tokens2"})

    def test_keys_of_a_table_are_in_the_order_of_the_format(self):
        for name, table in TABLES.items():
            with self.subTest(name):
                self.assertEqual(list(table), ["schema_version", "kind", "name", "family",
                                               "source", "input", "totals", "layers"])
                self.assertEqual((table["schema_version"], table["kind"], table["name"]),
                                 (1, "model", name))
                self.assertEqual({tuple(key for key in layer
                                        if key not in ("execution_index", "heads")) for layer in table["layers"]},
                                 {("name", "kind", "macs", "scales_with", "tensors")})
                for layer in table["layers"]:  # heads divide the width that MACs count
                    self.assertEqual("heads" in layer, layer["kind"] == "attention")
                    self.assertEqual(layer["macs"] % (2 * layer.get("heads", 1)), 0 if "heads" in layer else layer["macs"] % 2)

    def test_networks_sharing_blocks_agree_on_stages_of_equal_depth(self):
        def stages(name, *numbers):
            prefixes = tuple(f"layer{number}." for number in numbers) + ("conv1", "bn1", "fc")
            return [layer for layer in TABLES[name]["layers"] if layer["name"].startswith(prefixes)]

        self.assertEqual(stages("resnet50", 1, 2, 4), stages("resnet101", 1, 2, 4))
        self.assertEqual(stages("resnet50", 1, 4), stages("resnet152", 1, 4))
        self.assertNotEqual(stages("resnet50", 2), stages("resnet152", 2))

    def test_networks_without_their_heads_are_the_plain_ones(self):
        def without(name, *heads):
            return [{key: value for key, value in layer.items() if key != "execution_index"}
                    for layer in TABLES[name]["layers"] if not layer["name"].startswith(heads)]

        self.assertEqual(without("googlenet_aux", "aux"), TABLES["googlenet"]["layers"])
        self.assertEqual(len(TABLES["googlenet_aux"]["layers"]), len(TABLES["googlenet"]["layers"]) + 2 * 4)
        self.assertEqual(without("googlenet_caffe_aux", "loss1/", "loss2/"), TABLES["googlenet_caffe"]["layers"])
        for size in ("base", "large"):
            self.assertEqual(without(f"bert_{size}_pretrain", "cls."), TABLES[f"bert_{size}"]["layers"])


class Orders(unittest.TestCase):
    REORDERED = {"googlenet_aux", "bert_base_pretrain", "bert_base_pretrain_v30528",
                 "bert_large_pretrain", "bert_large_pretrain_v30528"}

    @staticmethod
    def executed(name):
        layers = sorted(TABLES[name]["layers"], key=lambda layer: layer["execution_index"])
        return [layer["name"] for layer in layers]

    def test_only_tables_with_two_orders_have_an_execution_index_and_it_is_a_permutation(self):
        for name, table in TABLES.items():
            with self.subTest(name):
                indices = [layer.get("execution_index") for layer in table["layers"]]
                if name in self.REORDERED | set(LLAMA) | set(SEQ2SEQ) | {"dit_xl_2", "sdxl_unet"}:
                    self.assertEqual(sorted(indices), list(range(1, len(indices) + 1)))
                    self.assertNotEqual(indices, sorted(indices))
                else:
                    self.assertEqual(set(indices), {None})

    def test_the_unet_runs_its_middle_between_the_halves_and_transformers_behind_convolutions(self):
        stages = list(dict.fromkeys(
            ".".join(name.split(".")[:4]) for name in self.executed("sdxl_unet")
            if "resnets" in name or "attentions" in name))
        middle = stages.index("mid_block.resnets.0.norm1")
        self.assertEqual(stages[middle - 1], "down_blocks.2.attentions.1")
        self.assertEqual([stage for stage in stages if stage.startswith("up_")], [
            "up_blocks.0.resnets.0", "up_blocks.0.attentions.0", "up_blocks.0.resnets.1",
            "up_blocks.0.attentions.1", "up_blocks.0.resnets.2", "up_blocks.0.attentions.2",
            "up_blocks.1.resnets.0", "up_blocks.1.attentions.0", "up_blocks.1.resnets.1",
            "up_blocks.1.attentions.1", "up_blocks.1.resnets.2", "up_blocks.1.attentions.2",
            "up_blocks.2.resnets.0", "up_blocks.2.resnets.1", "up_blocks.2.resnets.2"])

    def test_auxiliary_heads_are_registered_before_fc_and_run_after_4a_and_4d(self):
        heads = [[f"aux{k}.conv.conv", f"aux{k}.conv.bn", f"aux{k}.fc1", f"aux{k}.fc2"] for k in (1, 2)]
        registered = [layer["name"] for layer in TABLES["googlenet_aux"]["layers"]]
        self.assertEqual(registered[-9:], [*heads[0], *heads[1], "fc"])
        executed = self.executed("googlenet_aux")
        for head, before, after in ((heads[0], "inception4a", "inception4b"),
                                    (heads[1], "inception4d", "inception4e")):
            start = executed.index(head[0])
            self.assertEqual(executed[start:start + 4], head)
            self.assertEqual(executed[start - 1], f"{before}.branch4.1.bn")
            self.assertEqual(executed[start + 4], f"{after}.branch1.conv")

    def test_caffe_heads_stand_where_they_run(self):
        names = [layer["name"] for layer in TABLES["googlenet_caffe_aux"]["layers"]]
        for head, before, after in ((1, "4a", "4b"), (2, "4d", "4e")):
            start = names.index(f"loss{head}/conv")
            self.assertEqual(names[start - 1:start + 4],
                             [f"inception_{before}/pool_proj", f"loss{head}/conv",
                              f"loss{head}/fc", f"loss{head}/classifier", f"inception_{after}/1x1"])

    def test_norms_of_decoders_are_registered_last_and_run_before_what_they_feed(self):
        block = "model.layers.1."
        run = [name.removeprefix(block) for name in self.executed("qwen3_8b") if name.startswith(block)]
        self.assertEqual(run, ["input_layernorm", "self_attn.q_proj", "self_attn.k_proj",
                               "self_attn.v_proj", "self_attn.q_norm", "self_attn.k_norm",
                               "self_attn.scores", "self_attn.o_proj", "post_attention_layernorm",
                               "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"])
        run = [name.removeprefix(block) for name in self.executed("gemma3_4b") if name.startswith(block)]
        self.assertEqual(run[8:], ["post_attention_layernorm", "pre_feedforward_layernorm",
                                   "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj",
                                   "post_feedforward_layernorm"])

    def test_blocks_of_encoders_and_decoders_run_in_the_order_of_their_code(self):
        def run(name, block):
            return [layer.removeprefix(block) for layer in self.executed(name) if layer.startswith(block)]

        self.assertEqual(run("t5_large", "decoder.block.0.layer.0."), [
            "layer_norm", "SelfAttention.q", "SelfAttention.k", "SelfAttention.v",
            "SelfAttention.relative_attention_bias", "SelfAttention.scores", "SelfAttention.o"])
        self.assertEqual(run("t5_large", "decoder.block.1.layer.2."),
                         ["layer_norm", "DenseReluDense.wi", "DenseReluDense.wo"])
        attention = ["q_proj", "k_proj", "v_proj", "scores", "out_proj"]
        self.assertEqual(run("bart_large", "model.encoder.layers.3."), [
            *(f"self_attn.{part}" for part in attention), "self_attn_layer_norm", "fc1", "fc2",
            "final_layer_norm"])
        self.assertEqual(run("whisper_large_v3", "model.decoder.layers.3."), [
            "self_attn_layer_norm", *(f"self_attn.{part}" for part in attention),
            "encoder_attn_layer_norm", *(f"encoder_attn.{part}" for part in attention),
            "final_layer_norm", "fc1", "fc2"])
        self.assertEqual(self.executed("bart_large")[:3], [
            "model.shared", "model.encoder.embed_positions", "model.encoder.layernorm_embedding"])

    def test_tied_decoder_is_registered_first_of_the_heads_and_runs_after_the_transform(self):
        transform = ["cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm"]
        for name in self.REORDERED - {"googlenet_aux"}:
            with self.subTest(name):
                registered = [layer["name"] for layer in TABLES[name]["layers"]]
                self.assertEqual(registered[-5:], ["pooler.dense", "cls.predictions", *transform,
                                                   "cls.seq_relationship"])
                self.assertEqual(self.executed(name)[-5:],
                                 ["pooler.dense", *transform, "cls.predictions",
                                  "cls.seq_relationship"])


# Buckets of PyTorch DDP


def ddp_buckets(elements, first_cap=MIB, cap=25 * MIB, value_bytes=4):
    """Closes a bucket with the tensor that reaches the cap; the first cap is smaller."""
    buckets, size, limit = [[]], 0, first_cap
    for count in reversed(elements):
        if size >= limit:
            buckets.append([])
            size, limit = 0, cap
        buckets[-1].append(count)
        size += value_bytes * count
    return buckets


# buckets in launch order: elements, tensors
DDP = {
    "resnet50": ([2049000, 7875584, 6563840, 6637568, 2431040], [2, 15, 12, 51, 81]),
    "resnet101": ([2049000, 7875584, 6563840, 6965760, 6703104, 6703104, 6590464, 1098304],
                  [2, 15, 12, 54, 54, 54, 63, 60]),
    "resnet152": ([2049000, 7875584, 6563840, 6965760, *[6703104] * 4, 6639104, 3287104],
                  [2, 15, 12, *[54] * 6, 114]),
    "densenet201": ([1921000, 6669120, 6630976, 4792832], [2, 180, 141, 281]),
    "inception_v4": ([1537000, 6940416, 6718848, 6568576, 6629440, 6575936, 6588800, 1120800],
                     [2, 45, 45, 57, 69, 66, 96, 69]),
    "googlenet_caffe_aux": ([1025000, 6579608, 5773672], [2, 44, 82]),
    "googlenet_caffe": ([1025000, 5973552], [2, 114]),
    "googlenet": ([1025000, 5599904], [2, 171]),
    "googlenet_aux": ([1025000, 6582320, 5397568], [2, 23, 162]),
    "bert_base": ([590592, *[7087872] * 12, 23837184], [2, *[16] * 12, 5]),
    "bert_base_pretrain": ([593666, 7118394, *[7087872] * 11, 24427776], [6, 17, *[16] * 11, 7]),
    "gpt2": ([2361600, *[7087872] * 11, 44111616], [4, *[12] * 12]),
}


class DdpBuckets(unittest.TestCase):
    @staticmethod
    def elements(name):
        return [prod(shape) for _, shape in tensors_of(TABLES[name])]

    def test_buckets_have_their_elements_and_tensors_in_launch_order(self):
        for name, (elements, tensors) in DDP.items():
            with self.subTest(name):
                buckets = ddp_buckets(self.elements(name))
                self.assertEqual([sum(bucket) for bucket in buckets], elements)
                self.assertEqual([len(bucket) for bucket in buckets], tensors)

    def test_buckets_of_the_large_gpt2_follow_its_blocks(self):
        # from the end: norm and the two halves of a block's feed-forward part, then its attention
        for name, blocks, count in (("gpt2_large", 36, 109), ("gpt2_xl", 48, 145)):
            with self.subTest(name):
                buckets = ddp_buckets(self.elements(name))
                self.assertEqual(len(buckets), count)
                self.assertEqual(count, 3 * blocks + 1)
                self.assertEqual([len(bucket) for bucket in buckets[:4]], [4, 2, 6, 4])

    def test_buckets_are_the_reversed_tensors_cut_where_the_cap_is_reached(self):
        for name in RECIPES:
            with self.subTest(name):
                elements = self.elements(name)
                buckets = ddp_buckets(elements)
                self.assertEqual([count for bucket in buckets for count in bucket], elements[::-1])
                for index, bucket in enumerate(buckets):
                    cap = (25 * MIB if index else MIB) / 4
                    self.assertLess(sum(bucket[:-1]), cap)
                    if index < len(buckets) - 1:
                        self.assertGreaterEqual(sum(bucket), cap)


# Other inputs


class OtherInputs(unittest.TestCase):
    def test_doubling_the_image_of_resnet50_multiplies_every_convolution_by_four(self):
        base = TABLES["resnet50"]
        table = generate.model_table(RECIPES["resnet50"], image_size=(448, 448))
        self.assertEqual(table["input"], {"channels": 3, "height": 448, "width": 448})
        self.assertEqual(tensors_of(table), tensors_of(base))
        for layer, original in zip(table["layers"], base["layers"], strict=True):
            factor = 4 if layer["kind"] == "conv" else 1
            self.assertEqual(layer["macs"], factor * original["macs"], layer["name"])
        fc = layer_of(base, "fc")["macs"]
        self.assertEqual(table["totals"]["macs"], 4 * (base["totals"]["macs"] - fc) + fc)
        self.assertEqual(table["totals"]["macs"], 16_350_593_024)

    def test_parameters_do_not_depend_on_the_image(self):
        for name, recipe in RECIPES.items():
            if recipe.image:
                with self.subTest(name):
                    height, width = recipe.image[1:]
                    table = generate.model_table(recipe, image_size=(2 * height, 3 * width))
                    self.assertEqual(tensors_of(table), tensors_of(TABLES[name]))
                    if any(layer["kind"] == "conv" for layer in table["layers"]):
                        self.assertGreater(table["totals"]["macs"], TABLES[name]["totals"]["macs"])

    def test_height_comes_before_width(self):
        network = Network((10, 20))
        network.add("conv wide 1>1 k1x7 p0x3")
        self.assertEqual(network.size, (10, 20))
        network.add("conv tall 1>1 k7x1")
        self.assertEqual(network.size, (4, 20))
        self.assertEqual([layer["tensors"][0]["shape"] for layer in network.layers],
                         [[1, 1, 1, 7], [1, 1, 7, 1]])

    def test_scaling_rules_give_the_macs_of_a_regenerated_sequence_length(self):
        for name, recipe in RECIPES.items():
            if not recipe.sequence_length:
                continue
            with self.subTest(name):
                s0, s = recipe.sequence_length, 3 * recipe.sequence_length + 1
                divisor = {"sample": 1, "tokens": s0, "tokens2": s0 * s0}
                factor = {"sample": 1, "tokens": s, "tokens2": s * s}
                table = generate.model_table(recipe, sequence_length=s)
                for layer, original in zip(table["layers"], TABLES[name]["layers"], strict=True):
                    rule = original["scales_with"]
                    self.assertEqual(original["macs"] % divisor[rule], 0)
                    self.assertEqual(layer["macs"], original["macs"] // divisor[rule] * factor[rule])

    def test_doubling_the_sequence_of_bert_multiplies_attention_by_four_and_rows_by_two(self):
        table = generate.model_table(RECIPES["bert_base"], sequence_length=256)
        for layer, original in zip(table["layers"], TABLES["bert_base"]["layers"], strict=True):
            attention, pooler = layer["kind"] == "attention", layer["name"] == "pooler.dense"
            factor = 4 if attention else 1 if pooler else 2
            self.assertEqual(layer["macs"], factor * original["macs"], layer["name"])
        self.assertEqual(sum(layer["macs"] for layer in table["layers"]
                             if layer["kind"] == "attention"), 4 * 301_989_888)
        self.assertEqual(4 * 301_989_888, 1_207_959_552)
        self.assertEqual(table["totals"]["macs"], 22_951_821_312)

    def test_sequence_limits_are_given_where_positions_are_embedded(self):
        limits = {name: TABLES[name]["input"].get("max_sequence_length") for name in RECIPES}
        for name, limit in limits.items():
            if name in LLAMA:  # the length that the configuration allows
                self.assertGreaterEqual(limit, TABLES[name]["input"]["sequence_length"])
                continue
            if name in VIT or name == "dit_xl_2":  # the patches of the image
                self.assertEqual(limit, TABLES[name]["input"]["sequence_length"])
                continue
            if name in SEQ2SEQ:  # T5 has relative positions
                self.assertEqual(limit, {"bart_large": 1024, "whisper_large_v3": 448}.get(name))
                continue
            expected = 512 if name.startswith("bert") else 1024 if name.startswith("gpt2") else None
            self.assertEqual(limit, expected, name)


# Measured data


def last_dump(path):
    """Rows [id, elements, ...] of the last dump of a layer log; a dump starts where ids restart."""
    rows = []
    for line in path.read_text().splitlines():
        if "[" in line:
            row = line[line.rindex("[") + 1:line.rindex("]")].split(",")
            if rows and int(row[0]) <= rows[-1][0]:
                rows = []
            rows.append((int(row[0]), int(row[1])))
    return rows


def padded(elements, multiple=64):
    return -(-elements // multiple) * multiple


class LayerLog(unittest.TestCase):
    BLOBS = [padded(prod(shape)) for _, shape in tensors_of(TABLES["googlenet_caffe_aux"])]

    def test_blobs_of_googlenet_padded_to_64_have_the_logged_total(self):
        self.assertEqual(len(self.BLOBS), 128)
        self.assertEqual(sum(self.BLOBS), 13_379_136)

    @unittest.skipUnless(LAYER_LOG.is_file(), f"no measured layer log at {LAYER_LOG}")
    def test_blobs_of_googlenet_are_the_rows_of_the_measured_log_in_order(self):
        self.assertEqual(last_dump(LAYER_LOG), list(enumerate(self.BLOBS)))


# The networks that torchvision builds


@unittest.skipUnless(importlib.util.find_spec("torchvision"), "no torchvision")
class Torchvision(unittest.TestCase):
    def test_tensors_are_those_of_the_modules_in_their_order(self):
        from torchvision import models
        for name in ("efficientnet_b4", "vit_b_16", "vit_l_16"):
            with self.subTest(name):
                module = getattr(models, name)(weights=None)
                self.assertEqual([prod(shape) for _, shape in tensors_of(TABLES[name])],
                                 [tensor.numel() for tensor in module.parameters()])

    def test_macs_of_efficientnet_are_those_of_its_convolutions_and_its_classifier(self):
        import torch
        from torchvision import models
        module, macs = models.efficientnet_b4(weights=None).eval(), []
        for part in module.modules():
            if isinstance(part, (torch.nn.Conv2d, torch.nn.Linear)):
                part.register_forward_hook(lambda part, inputs, output: macs.append(
                    output.numel() * part.weight[0].numel()))
        with torch.no_grad():
            module(torch.zeros(1, 3, 380, 380))
        self.assertEqual(macs, [layer["macs"] for layer in TABLES["efficientnet_b4"]["layers"]
                                if layer["kind"] in ("conv", "linear")])


# The generator


class Windows(unittest.TestCase):
    def test_windows_that_do_not_fit_are_dropped_unless_ceil_counts_them(self):
        self.assertEqual(windows(112, 3, 2, 0), (112 - 3) // 2 + 1)
        self.assertEqual(windows(112, 3, 2, 0, ceil=True), (112 - 3) // 2 + 2)
        self.assertEqual(windows(113, 3, 2, 0, ceil=True), (113 - 3) // 2 + 1)

    def test_a_ceil_window_that_starts_in_the_right_padding_is_dropped(self):
        # length 4, padding 1, kernel 2, stride 3: windows start at -1, 2, 5; 5 is past the 4
        self.assertEqual(windows(4, 2, 3, 1, ceil=True), 2)
        self.assertEqual(windows(5, 2, 3, 1, ceil=True), 3 - 1)
        self.assertEqual(windows(6, 2, 3, 1, ceil=True), 3)


class Errors(unittest.TestCase):
    def refused(self, message, recipe, **arguments):
        with self.assertRaises(RecipeError) as caught:
            generate.model_table(recipe, **arguments)
        self.assertEqual(str(caught.exception), message)

    @staticmethod
    def recipe(*lines, image=(3, 16, 16)):
        return Recipe("tiny", "tiny", "a test", lines, image=image)

    def test_a_layer_without_output_is_refused_with_its_name_and_the_input(self):
        self.refused("features.3: output would be 0x0 for input 16x16",
                     self.recipe("pool half k8 s8", "conv features.3 3>8 k3"))
        self.refused("pool1: output would be 0x1 for input 2x3", self.recipe("pool pool1 k3"), image_size=(2, 3))
        self.refused("conv1: output would be 0x0 for input 16x16", self.recipe("conv conv1 3>8 k40"))
        self.refused("features.3: output would be 0x0 for input 10x10", RECIPES["inception_v4"], image_size=(10, 10))

    def test_groups_that_do_not_divide_the_channels_are_refused(self):
        self.refused("conv2: 96 channels do not divide into 5 groups", self.recipe("conv conv2 96>255 k5 p2 g5 +b"))
        self.refused("conv2: 256 channels do not divide into 5 groups", self.recipe("conv conv2 95>256 k5 p2 g5 +b"))

    def test_an_image_for_a_network_on_tokens_is_refused(self):
        self.refused("bert_base has no image input", RECIPES["bert_base"], image_size=(64, 64))

    def test_unknown_operations_and_options_are_refused(self):
        self.refused("unknown operation dense in dense fc 3>4", self.recipe("dense fc 3>4"))
        self.refused("unknown option q2 in k1 q2", self.recipe("conv conv1 3>4 k1 q2"))


class Command(unittest.TestCase):
    def call(self, *arguments):
        """Exit code and standard error of generate.py."""
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            try:
                code = generate.main(list(arguments))
            except SystemExit as stop:
                code = stop.code
        return code, errors.getvalue()

    def test_committed_tables_are_byte_for_byte_those_of_the_recipes(self):
        for name, recipe in RECIPES.items():
            with self.subTest(name):
                text = generate.format_table(generate.model_table(recipe))
                self.assertEqual((MODELS / f"{name}.json").read_bytes(), text.encode())
                self.assertEqual(json.loads(text), TABLES[name])
        self.assertEqual(self.call("--check"), (0, ""))

    def test_every_committed_table_has_a_recipe(self):
        self.assertEqual({path.stem for path in MODELS.glob("*.json")}, set(RECIPES))

    def test_check_finds_a_changed_and_a_missing_table(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = ("resnet20", "lstm_ptb", "--output", folder)
            self.assertEqual(self.call(*arguments), (0, ""))
            self.assertEqual(self.call("--check", *arguments), (0, ""))
            path = Path(folder) / "resnet20.json"
            path.write_bytes(path.read_bytes().replace(b"[16]", b"[17]", 1))
            (Path(folder) / "lstm_ptb.json").unlink()
            code, errors = self.call("--check", *arguments)
            self.assertEqual(code, 4)
            self.assertEqual(errors.splitlines(),
                             [f"{folder}/{name}.json: differs from its recipe; "
                              f"run generate.py {name}" for name in ("resnet20", "lstm_ptb")])

    def test_another_image_size_is_written_elsewhere_only(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.call("resnet50", "--input", "256x320", "--output", folder),
                             (0, ""))
            table = json.loads((Path(folder) / "resnet50.json").read_text())
            self.assertEqual(table["input"], {"channels": 3, "height": 256, "width": 320})
            code, errors = self.call("resnet50", "--input", "256x256")
            self.assertEqual(code, 2)
            self.assertIn("--input needs the networks and --output", errors)

    def test_wrong_use_exits_2_with_the_reason(self):
        for arguments, reason in (
                (("resnet-50",), 'unknown model "resnet-50"; did you mean "resnet50"?'),
                (("resnet50", "--input", "0x64", "--output", "unused"),
                 "--input: must be HxW with sizes >= 1, got 0x64"),
                (("inception_v4", "--input", "10x10", "--output", "unused"),
                 "features.3: output would be 0x0 for input 10x10")):
            with self.subTest(reason):
                code, errors = self.call(*arguments)
                self.assertEqual(code, 2)
                self.assertIn(reason, errors)


if __name__ == "__main__":
    unittest.main()
