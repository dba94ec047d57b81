"""Recipes of networks on images, in the notation of network.py and in registration order."""

# AlexNet and VGG


def alexnet():
    yield "conv conv1 3>64 k11 s4 p2 +b"
    yield "pool pool1 k3 s2"
    yield "conv conv2 64>192 k5 p2 +b"
    yield "pool pool2 k3 s2"
    yield "conv conv3 192>384 k3 p1 +b"
    yield "conv conv4 384>256 k3 p1 +b"
    yield "conv conv5 256>256 k3 p1 +b"
    yield "pool pool5 k3 s2"
    yield from fully_connected_head(9216)


def alexnet_caffe():
    yield "conv conv1 3>96 k11 s4 +b"
    yield "pool pool1 k3 s2"
    yield "conv conv2 96>256 k5 p2 g2 +b"
    yield "pool pool2 k3 s2"
    yield "conv conv3 256>384 k3 p1 +b"
    yield "conv conv4 384>384 k3 p1 g2 +b"
    yield "conv conv5 384>256 k3 p1 g2 +b"
    yield "pool pool5 k3 s2"
    yield from fully_connected_head(9216)


def fully_connected_head(features):
    yield f"fc fc6 {features}>4096"
    yield "fc fc7 4096>4096"
    yield "fc fc8 4096>1000"


def vgg16():
    yield from vgg16_convolutions(norm=False)
    yield from fully_connected_head(25088)


def vgg16_cifar():
    yield from vgg16_convolutions(norm=True)
    yield "fc fc 512>10"


def vgg16_convolutions(norm):
    channels = 3
    for stage, (width, count) in enumerate(((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)), 1):
        for index in range(1, count + 1):
            yield f"conv conv{stage}_{index} {channels}>{width} k3 p1 +b"
            if norm:
                yield f"bn bn{stage}_{index} {width}"
            channels = width
        yield f"pool pool{stage} k2 s2"


# ResNet: the stride sits on the 3x3 convolution


def resnet(*depths):
    yield "conv conv1 3>64 k7 s2 p3"
    yield "bn bn1 64"
    yield "pool maxpool k3 s2 p1"
    channels = 64
    for stage, depth in enumerate(depths, 1):
        width = 32 * 2**stage
        for block in range(depth):
            stride = 2 if stage > 1 and block == 0 else 1
            yield from bottleneck(f"layer{stage}.{block}", channels, width, stride, block == 0)
            channels = 4 * width
    yield "fc fc 2048>1000"


def bottleneck(name, channels, width, stride, downsample):
    yield "mark"
    yield f"conv {name}.conv1 {channels}>{width} k1"
    yield f"bn {name}.bn1 {width}"
    yield f"conv {name}.conv2 {width}>{width} k3 s{stride} p1"
    yield f"bn {name}.bn2 {width}"
    yield f"conv {name}.conv3 {width}>{4 * width} k1"
    yield f"bn {name}.bn3 {4 * width}"
    if downsample:  # reads the block's input, but is registered last
        yield "back"
        yield f"conv {name}.downsample.0 {channels}>{4 * width} k1 s{stride}"
        yield f"bn {name}.downsample.1 {4 * width}"


def resnet18():
    yield "conv conv1 3>64 k7 s2 p3"
    yield "bn bn1 64"
    yield "pool maxpool k3 s2 p1"
    channels = 64
    for stage in range(1, 5):
        width = 32 * 2**stage
        for block in range(2):
            stride = 2 if stage > 1 and block == 0 else 1
            yield from basic_block(f"layer{stage}.{block}", channels, width, stride)
            channels = width
    yield "fc fc 512>1000"


def basic_block(name, channels, width, stride):
    yield "mark"
    yield f"conv {name}.conv1 {channels}>{width} k3 s{stride} p1"
    yield f"bn {name}.bn1 {width}"
    yield f"conv {name}.conv2 {width}>{width} k3 p1"
    yield f"bn {name}.bn2 {width}"
    if channels != width:  # reads the block's input, but is registered last
        yield "back"
        yield f"conv {name}.downsample.0 {channels}>{width} k1 s{stride}"
        yield f"bn {name}.downsample.1 {width}"


def resnet20():
    yield "conv conv1 3>16 k3 p1"
    yield "bn bn1 16"
    channels = 16
    for stage, width in enumerate((16, 32, 64), 1):
        for block in range(3):
            name = f"layer{stage}.{block}"
            stride = 2 if stage > 1 and block == 0 else 1
            yield f"conv {name}.conv1 {channels}>{width} k3 s{stride} p1"
            yield f"bn {name}.bn1 {width}"
            yield f"conv {name}.conv2 {width}>{width} k3 p1"
            yield f"bn {name}.bn2 {width}"
            channels = width
    yield "fc fc 64>10"


# EfficientNet-B4: widths and depths of B0 times 1.4 and 1.8, as torchvision rounds them


def efficientnet_b4():
    yield "conv features.0.0 3>48 k3 s2 p1"
    yield "bn features.0.1 48"
    channels = 48
    for stage, (expansion, kernel, stride, width, depth) in enumerate(
            ((1, 3, 1, 24, 2), (6, 3, 2, 32, 4), (6, 5, 2, 56, 4), (6, 3, 2, 112, 6),
             (6, 5, 1, 160, 6), (6, 5, 2, 272, 8), (6, 3, 1, 448, 2)), 1):
        for index in range(depth):
            yield from inverted_bottleneck(f"features.{stage}.{index}.block", channels, expansion,
                                           kernel, stride if index == 0 else 1, width)
            channels = width
    yield "conv features.8.0 448>1792 k1"
    yield "bn features.8.1 1792"
    yield "fc classifier.1 1792>1000"


def inverted_bottleneck(name, channels, expansion, kernel, stride, width):
    wide, part = expansion * channels, 0
    if expansion > 1:
        yield f"conv {name}.0.0 {channels}>{wide} k1"
        yield f"bn {name}.0.1 {wide}"
        part = 1
    yield f"conv {name}.{part}.0 {wide}>{wide} k{kernel} s{stride} p{kernel // 2} g{wide}"
    yield f"bn {name}.{part}.1 {wide}"
    yield "mark"
    yield "resize 1"  # squeeze and excitation work on the mean of each channel
    yield f"conv {name}.{part + 1}.fc1 {wide}>{channels // 4} k1 +b"
    yield f"conv {name}.{part + 1}.fc2 {channels // 4}>{wide} k1 +b"
    yield "back"
    yield f"conv {name}.{part + 2}.0 {wide}>{width} k1"
    yield f"bn {name}.{part + 2}.1 {width}"


# Networks without convolutions


def mlp_mnist():
    yield "fc fc1 784>500"
    yield "fc fc2 500>500"
    yield "fc fc3 500>10"


def softmax_cifar100():
    yield "fc fc 3072>100"


# DenseNet


def densenet(growth, channels, depths):
    yield f"conv features.conv0 3>{channels} k7 s2 p3"
    yield f"bn features.norm0 {channels}"
    yield "pool features.pool0 k3 s2 p1"
    for block, depth in enumerate(depths, 1):
        for index in range(1, depth + 1):
            name = f"features.denseblock{block}.denselayer{index}"
            yield f"bn {name}.norm1 {channels}"
            yield f"conv {name}.conv1 {channels}>{4 * growth} k1"
            yield f"bn {name}.norm2 {4 * growth}"
            yield f"conv {name}.conv2 {4 * growth}>{growth} k3 p1"
            channels += growth
        if block < len(depths):
            name = f"features.transition{block}"
            yield f"bn {name}.norm {channels}"
            yield f"conv {name}.conv {channels}>{channels // 2} k1"
            yield f"pool {name}.pool k2 s2"
            channels //= 2
    yield f"bn features.norm5 {channels}"
    yield f"fc classifier {channels}>1000"


# GoogLeNet

# module: input, 1x1, 3x3 reduce, 3x3, 5x5 reduce, 5x5, pool projection
GOOGLENET_MODULES = {
    "3a": (192, 64, 96, 128, 16, 32, 32),
    "3b": (256, 128, 128, 192, 32, 96, 64),
    "4a": (480, 192, 96, 208, 16, 48, 64),
    "4b": (512, 160, 112, 224, 24, 64, 64),
    "4c": (512, 128, 128, 256, 24, 64, 64),
    "4d": (512, 112, 144, 288, 32, 64, 64),
    "4e": (528, 256, 160, 320, 32, 128, 128),
    "5a": (832, 256, 160, 320, 32, 128, 128),
    "5b": (832, 384, 192, 384, 48, 128, 128),
}

# auxiliary head: the module whose output it reads, and its channels
GOOGLENET_HEADS = {1: ("4a", 512), 2: ("4d", 528)}


def googlenet_caffe(auxiliary):
    yield "conv conv1/7x7_s2 3>64 k7 s2 p3 +b"
    yield "pool pool1/3x3_s2 k3 s2 ceil"
    yield "conv conv2/3x3_reduce 64>64 k1 +b"
    yield "conv conv2/3x3 64>192 k3 p1 +b"
    yield "pool pool2/3x3_s2 k3 s2 ceil"
    for module, (i, one, reduce3, three, reduce5, five, projection) in GOOGLENET_MODULES.items():
        if module in ("4a", "5a"):
            yield f"pool pool{int(module[0]) - 1}/3x3_s2 k3 s2 ceil"
        name = f"inception_{module}"
        yield f"conv {name}/1x1 {i}>{one} k1 +b"
        yield f"conv {name}/3x3_reduce {i}>{reduce3} k1 +b"
        yield f"conv {name}/3x3 {reduce3}>{three} k3 p1 +b"
        yield f"conv {name}/5x5_reduce {i}>{reduce5} k1 +b"
        yield f"conv {name}/5x5 {reduce5}>{five} k5 p2 +b"
        yield f"conv {name}/pool_proj {i}>{projection} k1 +b"
        for head, (after, channels) in GOOGLENET_HEADS.items():
            if auxiliary and after == module:
                yield from googlenet_caffe_head(head, channels)
    yield "fc loss3/classifier 1024>1000"


def googlenet_caffe_head(head, channels):
    yield "mark"
    yield "resize 4"
    yield f"conv loss{head}/conv {channels}>128 k1 +b"
    yield "back"
    yield f"fc loss{head}/fc 2048>1024"
    yield f"fc loss{head}/classifier 1024>1000"


def googlenet(auxiliary):
    yield "cb conv1 3>64 k7 s2 p3"
    yield "pool maxpool1 k3 s2 ceil"
    yield "cb conv2 64>64 k1"
    yield "cb conv3 64>192 k3 p1"
    yield "pool maxpool2 k3 s2 ceil"
    for module, (i, one, reduce3, three, reduce5, five, projection) in GOOGLENET_MODULES.items():
        if module == "4a":
            yield "pool maxpool3 k3 s2 ceil"
        if module == "5a":
            yield "pool maxpool4 k2 s2 ceil"
        name = f"inception{module}"
        yield f"cb {name}.branch1 {i}>{one} k1"
        yield f"cb {name}.branch2.0 {i}>{reduce3} k1"
        yield f"cb {name}.branch2.1 {reduce3}>{three} k3 p1"
        yield f"cb {name}.branch3.0 {i}>{reduce5} k1"
        yield f"cb {name}.branch3.1 {reduce5}>{five} k3 p1"  # 3x3 in this code, not 5x5
        yield f"cb {name}.branch4.1 {i}>{projection} k1"
    if auxiliary:
        for head, (_, channels) in GOOGLENET_HEADS.items():
            yield "resize 4"
            yield f"cb aux{head}.conv {channels}>128 k1"
            yield f"fc aux{head}.fc1 2048>1024"
            yield f"fc aux{head}.fc2 1024>1000"
    yield "fc fc 1024>1000"


# Inception-v4: one text line per branch, all branches of a module read the module's input

INCEPTION_V4_STEM_4 = """
    branch0.0 160>64 k1, branch0.1 64>96 k3
    branch1.0 160>64 k1, branch1.1 64>64 k1x7 p0x3, branch1.2 64>64 k7x1 p3x0, branch1.3 64>96 k3"""

INCEPTION_V4_A = """
    branch0 384>96 k1
    branch1.0 384>64 k1, branch1.1 64>96 k3 p1
    branch2.0 384>64 k1, branch2.1 64>96 k3 p1, branch2.2 96>96 k3 p1
    branch3.1 384>96 k1"""

INCEPTION_V4_REDUCTION_A = """
    branch0 384>384 k3 s2
    branch1.0 384>192 k1, branch1.1 192>224 k3 p1, branch1.2 224>256 k3 s2"""

INCEPTION_V4_B = """
    branch0 1024>384 k1
    branch1.0 1024>192 k1, branch1.1 192>224 k1x7 p0x3, branch1.2 224>256 k7x1 p3x0
    branch2.0 1024>192 k1, branch2.1 192>192 k7x1 p3x0, branch2.2 192>224 k1x7 p0x3, \
branch2.3 224>224 k7x1 p3x0, branch2.4 224>256 k1x7 p0x3
    branch3.1 1024>128 k1"""

INCEPTION_V4_REDUCTION_B = """
    branch0.0 1024>192 k1, branch0.1 192>192 k3 s2
    branch1.0 1024>256 k1, branch1.1 256>256 k1x7 p0x3, branch1.2 256>320 k7x1 p3x0, \
branch1.3 320>320 k3 s2"""

# _1a and _1b both read branch1_0, _3a and _3b both read branch2_2; the size stays
INCEPTION_V4_C = """
    branch0 1536>256 k1
    branch1_0 1536>384 k1, branch1_1a 384>256 k1x3 p0x1, branch1_1b 384>256 k3x1 p1x0
    branch2_0 1536>384 k1, branch2_1 384>448 k3x1 p1x0, branch2_2 448>512 k1x3 p0x1, \
branch2_3a 512>256 k1x3 p0x1, branch2_3b 512>256 k3x1 p1x0
    branch3.1 1536>256 k1"""


def inception_v4():
    yield "cb features.0 3>32 k3 s2"
    yield "cb features.1 32>32 k3"
    yield "cb features.2 32>64 k3 p1"
    yield from inception_v4_module(3, "conv 64>96 k3 s2", pooled=True)
    yield from inception_v4_module(4, INCEPTION_V4_STEM_4)
    yield from inception_v4_module(5, "conv 192>192 k3 s2", pooled=True)
    for index in range(6, 10):
        yield from inception_v4_module(index, INCEPTION_V4_A)
    yield from inception_v4_module(10, INCEPTION_V4_REDUCTION_A, pooled=True)
    for index in range(11, 18):
        yield from inception_v4_module(index, INCEPTION_V4_B)
    yield from inception_v4_module(18, INCEPTION_V4_REDUCTION_B, pooled=True)
    for index in range(19, 22):
        yield from inception_v4_module(index, INCEPTION_V4_C)
    yield "fc last_linear 1536>1000"


def inception_v4_module(index, branches, pooled=False):
    """The branches of a module; `pooled` ones have a 3x3 stride 2 pool beside them."""
    yield "mark"
    if pooled:
        yield f"pool features.{index} k3 s2"
    for branch in branches.strip().splitlines():
        yield "back"
        for convolution in branch.split(","):
            yield f"cb features.{index}.{convolution.strip()}"


# The U-Net of Stable Diffusion XL, on latents of 4 channels and an eighth of the pixels


def sdxl_unet(size=128, words=77):
    """`words` rows of 2048 text features; a step of time and a text of 1280 features steer all blocks."""
    widths, depths = (320, 640, 1280), (0, 2, 10)
    yield "conv conv_in 4>320 k3 p1 +b"
    for name, inputs in (("time_embedding", 320), ("add_embedding", 2816)):
        yield f"fc {name}.linear_1 {inputs}>1280"
        yield f"fc {name}.linear_2 1280>1280"
    skips, channels = [320], 320
    for stage, (width, depth) in enumerate(zip(widths, depths)):
        inputs = (channels, width)
        skips += [width, width]
        yield from unet_stage(f"down_blocks.{stage}", inputs, width, depth, size, words)
        channels = width
        if stage < 2:
            yield f"conv down_blocks.{stage}.downsamplers.0.conv {width}>{width} k3 s2 p1 +b"
            skips.append(width)
            size //= 2
    steps = []
    for stage, (width, depth) in enumerate(zip(reversed(widths), reversed(depths))):
        inputs = []
        for _ in range(3):
            inputs.append(channels + skips.pop())
            channels = width
        steps += unet_stage(f"up_blocks.{stage}", inputs, width, depth, size, words)
        if stage < 2:
            size *= 2
            steps += [f"resize {size}",
                      f"conv up_blocks.{stage}.upsamplers.0.conv {width}>{width} k3 p1 +b"]
    yield from steps
    yield "resize 32"
    yield from unet_stage("mid_block", (1280, 1280), 1280, 10, 32, words, attentions=1)
    yield "resize 128"
    yield "gn conv_norm_out 320"
    yield "conv conv_out 320>4 k3 p1 +b"


def unet_stage(name, inputs, width, depth, size, words, attentions=None):
    """Residual blocks that read `inputs` channels each; transformers of `depth` blocks behind them."""
    count = len(inputs) if attentions is None else attentions
    for index in range(count if depth else 0):
        yield from unet_transformer(f"{name}.attentions.{index}", width, depth, size**2, words)
    for index, channels in enumerate(inputs):
        block = f"{name}.resnets.{index}"
        yield f"gn {block}.norm1 {channels}"
        yield f"conv {block}.conv1 {channels}>{width} k3 p1 +b"
        yield f"fc {block}.time_emb_proj 1280>{width}"
        yield f"gn {block}.norm2 {width}"
        yield f"conv {block}.conv2 {width}>{width} k3 p1 +b"
        if channels != width:
            yield f"conv {block}.conv_shortcut {channels}>{width} k1 +b"


def unet_transformer(name, h, depth, rows, words):
    """Blocks of attention to the image, attention to the text and a gated MLP."""
    yield f"gn {name}.norm {h}"
    yield f"fc {name}.proj_in {h}>{h} x{rows}"
    for index in range(depth):
        block = f"{name}.transformer_blocks.{index}"
        for part, width, keys in ((1, h, rows), (2, 2048, words)):
            yield f"ln {block}.norm{part} {h}"
            yield f"lin {block}.attn{part}.to_q {h}>{h} x{rows}"
            yield f"lin {block}.attn{part}.to_k {width}>{h} x{keys}"
            yield f"lin {block}.attn{part}.to_v {width}>{h} x{keys}"
            yield f"attn {block}.attn{part}.scores {h} a{h // 64} x{rows}x{keys}"
            yield f"fc {block}.attn{part}.to_out.0 {h}>{h} x{rows}"
        yield f"ln {block}.norm3 {h}"
        yield f"fc {block}.ff.net.0.proj {h}>{8 * h} x{rows}"
        yield f"fc {block}.ff.net.2 {4 * h}>{h} x{rows}"
    yield f"fc {name}.proj_out {h}>{h} x{rows}"
