"""The table of all networks: name, family, source, input and the lines of the recipe.

The lines are in registration order, the order in which the published code creates its modules.
`runs_before` lists the modules that run elsewhere: (module, module it runs before); a name that
ends in "." stands for everything inside that module.
"""

from dataclasses import dataclass

from image_networks import (alexnet, alexnet_caffe, densenet, efficientnet_b4, googlenet,
                            googlenet_caffe, inception_v4, mlp_mnist, resnet, resnet18, resnet20,
                            sdxl_unet, softmax_cifar100, vgg16, vgg16_cifar)
from sequence_networks import bart, bert, dit, gpt2, llama, lstm_ptb, t5, vit, whisper


@dataclass(frozen=True)
class Recipe:
    name: str
    family: str
    source: str
    lines: tuple
    image: tuple = None  # channels, height, width
    sequence_length: int = None
    max_sequence_length: int = None  # where position embeddings set a limit
    runs_before: tuple = ()
    causal: bool = False  # tokens attend to earlier ones alone


IMAGENET = (3, 224, 224)
CIFAR = (3, 32, 32)


def image_recipe(name, family, source, lines, image=IMAGENET, runs_before=()):
    return Recipe(name, family, source, tuple(lines), image=image, runs_before=runs_before)


def bert_recipes(name, layers, h):
    """The encoder alone, with the pre-training heads, and with these and a padded vocabulary."""
    shape = dict(sequence_length=128, max_sequence_length=512)
    heads = dict(shape, runs_before=(("cls.predictions", "cls.seq_relationship"),))
    plain = tuple(bert(layers, h))
    pretrain = tuple(bert(layers, h, pretrain=True))
    padded = tuple(bert(layers, h, vocabulary=30528, pretrain=True))
    yield Recipe(name, "bert", "transformers BertModel, vocabulary 30522", plain, **shape)
    yield Recipe(f"{name}_pretrain", "bert",
                 "transformers BertForPreTraining, vocabulary 30522", pretrain, **heads)
    yield Recipe(f"{name}_pretrain_v30528", "bert",
                 "transformers BertForPreTraining, vocabulary padded to 30528, a multiple of 64",
                 padded, **heads)


def gpt2_recipe(name, layers, h):
    return Recipe(name, "gpt2", "transformers GPT2LMHeadModel, output tied to wte",
                  tuple(gpt2(layers, h)), sequence_length=1024, max_sequence_length=1024,
                  causal=True)


def llama_recipe(name, family, source, positions, *shape, **options):
    """The MACs belong to 4096 tokens, or to all positions where these are fewer."""
    def block_order():
        for index in range(shape[0]):
            block = f"model.layers.{index}"
            yield f"{block}.input_layernorm", f"{block}.self_attn.q_proj"
            if options.get("qk_norm"):
                yield f"{block}.self_attn.q_norm", f"{block}.self_attn.scores"
                yield f"{block}.self_attn.k_norm", f"{block}.self_attn.scores"
            yield f"{block}.post_attention_layernorm", f"{block}.mlp.gate_proj"
            if options.get("four_norms"):
                yield f"{block}.pre_feedforward_layernorm", f"{block}.mlp.gate_proj"
    return Recipe(name, family, f"config.json of {source}", tuple(llama(*shape, **options)),
                  sequence_length=min(positions, 4096), max_sequence_length=positions,
                  runs_before=tuple(block_order()), causal=True)


def vit_recipe(name, source, tokens, *shape):
    return Recipe(name, "vit", f"torchvision {source}, 224 x 224 pixels", tuple(vit(*shape)),
                  sequence_length=tokens, max_sequence_length=tokens)


def dit_order(layers):
    """The modulation of a block is registered last and runs first."""
    for index in range(layers):
        yield f"blocks.{index}.adaLN_modulation.1", f"blocks.{index}.attn.qkv"
    yield "final_layer.adaLN_modulation.1", "final_layer.linear"


def t5_order(layers):
    """The norm of a sublayer is registered last and runs first."""
    for side, attentions in (("encoder", 1), ("decoder", 2)):
        for index in range(layers):
            for part in range(attentions + 1):
                name = f"{side}.block.{index}.layer.{part}"
                first = ("SelfAttention.q", "EncDecAttention.q")[:attentions] + (
                    "DenseReluDense.wi",)
                yield f"{name}.layer_norm", f"{name}.{first[part]}"
        name = f"{side}.block.0.layer.0.SelfAttention"
        yield f"{name}.relative_attention_bias", f"{name}.scores"


def seq2seq_order(layers, norm_first):
    """Queries run before keys; norms before what they feed, with `norm_first`."""
    for side, attentions in (("encoder", ("self_attn",)),
                             ("decoder", ("self_attn", "encoder_attn"))):
        if not norm_first:
            yield f"model.{side}.layernorm_embedding", f"model.{side}.layers.0.self_attn.k_proj"
        for index in range(layers):
            name = f"model.{side}.layers.{index}"
            for attention in attentions:
                if norm_first:
                    yield f"{name}.{attention}_layer_norm", f"{name}.{attention}.k_proj"
                yield f"{name}.{attention}.q_proj", f"{name}.{attention}.k_proj"
            if norm_first:
                yield f"{name}.final_layer_norm", f"{name}.fc1"


def unet_order():
    """Transformers are registered before the residual blocks that they follow, the middle last."""
    yield "time_embedding.", "conv_in"
    yield "add_embedding.", "conv_in"
    for name, count in (("down_blocks.1", 2), ("down_blocks.2", 2), ("up_blocks.0", 3),
                        ("up_blocks.1", 3), ("mid_block", 1)):
        for index in range(count):
            yield f"{name}.resnets.{index}.", f"{name}.attentions.{index}."
    yield "mid_block.", "up_blocks.0."


# Where the fields of a config.json were read.
TORCHTUNE = "torchtune/models of pytorch/torchtune bd2a0fc7c314"
MEGATRON_BRIDGE = "mistral_provider.py of NVIDIA-NeMo/Megatron-Bridge 2afd2d34f7d7"
LITGPT = "litgpt/config.py of Lightning-AI/litgpt 26857050fe3f"
GEMMA3 = f"{LITGPT} and Gemma3TextConfig of huggingface/transformers 008f5c8c29be"

ALL = (
    image_recipe("alexnet", "alexnet", "torchvision alexnet, layers named as in Caffe", alexnet()),
    image_recipe("alexnet_caffe", "alexnet",
                 "Caffe AlexNet with grouped convolutions; layers recalled, total checked",
                 alexnet_caffe(), image=(3, 227, 227)),
    image_recipe("vgg16", "vgg", "torchvision vgg16, layers named as in Caffe", vgg16()),
    image_recipe("googlenet_caffe_aux", "googlenet",
                 "Caffe GoogLeNet with both auxiliary heads; rows as in the B-Caffe layer logs",
                 googlenet_caffe(auxiliary=True)),
    image_recipe("googlenet_caffe", "googlenet", "Caffe GoogLeNet without auxiliary heads",
                 googlenet_caffe(auxiliary=False)),
    image_recipe("googlenet", "googlenet", "torchvision googlenet without auxiliary heads",
                 googlenet(auxiliary=False)),
    image_recipe("googlenet_aux", "googlenet", "torchvision googlenet with both auxiliary heads",
                 googlenet(auxiliary=True),
                 runs_before=(("aux1.", "inception4b."), ("aux2.", "inception4e."))),
    image_recipe("resnet18", "resnet", "torchvision resnet18", resnet18()),
    image_recipe("resnet50", "resnet", "torchvision resnet50 (stride on the 3x3)",
                 resnet(3, 4, 6, 3)),
    image_recipe("resnet101", "resnet", "torchvision resnet101 (stride on the 3x3)",
                 resnet(3, 4, 23, 3)),
    image_recipe("resnet152", "resnet", "torchvision resnet152 (stride on the 3x3)",
                 resnet(3, 8, 36, 3)),
    image_recipe("densenet161", "densenet", "torchvision densenet161",
                 densenet(48, 96, (6, 12, 36, 24))),
    image_recipe("densenet201", "densenet", "torchvision densenet201",
                 densenet(32, 64, (6, 12, 48, 32))),
    image_recipe("inception_v4", "inception", "pretrained-models.pytorch inceptionv4",
                 inception_v4(), image=(3, 299, 299)),
    image_recipe("efficientnet_b4", "efficientnet", "torchvision efficientnet_b4",
                 efficientnet_b4(), image=(3, 380, 380)),
    vit_recipe("vit_b_16", "vit_b_16", 197, 12, 768, 16),
    vit_recipe("vit_l_16", "vit_l_16", 197, 24, 1024, 16),
    vit_recipe("vit_h_14", "vit_h_14", 257, 32, 1280, 14),
    Recipe("dit_xl_2", "dit", "DiT-XL/2 of facebookresearch/DiT ed81ce222909, 256 x 256 pixels",
           tuple(dit(28, 1152)), sequence_length=256, max_sequence_length=256,
           runs_before=tuple(dit_order(28))),
    image_recipe("sdxl_unet", "unet", "UNet2DConditionModel of diffusers with the shape of "
                 "sd_xl_base.yaml, Stability-AI/generative-models 3df5c81a2b58, 1024 x 1024 pixels",
                 sdxl_unet(), image=(4, 128, 128), runs_before=tuple(unet_order())),
    *bert_recipes("bert_base", 12, 768),
    *bert_recipes("bert_large", 24, 1024),
    gpt2_recipe("gpt2", 12, 768),
    gpt2_recipe("gpt2_medium", 24, 1024),
    gpt2_recipe("gpt2_large", 36, 1280),
    gpt2_recipe("gpt2_xl", 48, 1600),
    image_recipe("vgg16_cifar", "vgg", "VGG-16 with batch norm for CIFAR-10", vgg16_cifar(),
                 image=CIFAR),
    image_recipe("resnet20", "resnet", "ResNet-20 for CIFAR-10, shortcuts without parameters",
                 resnet20(), image=CIFAR),
    image_recipe("mlp_mnist", "mlp", "784-500-500-10 perceptron for MNIST", mlp_mnist(),
                 image=(1, 28, 28)),
    image_recipe("softmax_cifar100", "softmax",
                 "softmax regression on the pixels of CIFAR-100; its form is assumed",
                 softmax_cifar100(), image=CIFAR),
    Recipe("t5_large", "t5", "transformers T5ForConditionalGeneration 001359e316a8, t5.1.0.large "
           "of google-research/text-to-text-transfer-transformer e081111ccd51",
           tuple(t5(24, 1024, 4096)), sequence_length=512, runs_before=tuple(t5_order(24))),
    Recipe("bart_large", "bart", "transformers BartForConditionalGeneration 00646d2acdba with the "
           "defaults of its configuration, those of bart-large",
           tuple(bart(12, 1024, 4096)), sequence_length=1024, max_sequence_length=1024,
           runs_before=tuple(seq2seq_order(12, norm_first=False))),
    Recipe("whisper_large_v3", "whisper", "config.json of whisper-large-v3, as transformers "
           "WhisperForConditionalGeneration 001dff24bbb0",
           tuple(whisper(32, 1280, 5120)), sequence_length=448, max_sequence_length=448,
           runs_before=tuple(seq2seq_order(32, norm_first=True))),
    # name, family, configuration, positions, layers, width, heads, key heads, MLP, vocabulary
    llama_recipe("llama2_7b", "llama", "Llama-2-7b", 4096, 32, 4096, 32, 32, 11008, 32000),
    llama_recipe("llama2_13b", "llama", "Llama-2-13b", 4096, 40, 5120, 40, 40, 13824, 32000),
    llama_recipe("llama2_70b", "llama", "Llama-2-70b", 4096, 80, 8192, 64, 8, 28672, 32000),
    llama_recipe("llama3_8b", "llama", "Meta-Llama-3-8B", 8192, 32, 4096, 32, 8, 14336, 128256),
    llama_recipe("llama3_70b", "llama", "Meta-Llama-3-70B", 8192, 80, 8192, 64, 8, 28672, 128256),
    llama_recipe("llama3_1_405b", "llama", "Llama-3.1-405B", 131072, 126, 16384, 128, 8, 53248,
                 128256),
    llama_recipe("mistral_7b", "mistral", "Mistral-7B-v0.1", 32768, 32, 4096, 32, 8, 14336, 32000),
    llama_recipe("qwen2_5_0_5b", "qwen2", "Qwen2.5-0.5B", 32768, 24, 896, 14, 2, 4864, 151936,
                 bias=True, tied=True),
    llama_recipe("qwen2_5_7b", "qwen2", "Qwen2.5-7B", 131072, 28, 3584, 28, 4, 18944, 152064,
                 bias=True),
    llama_recipe("qwen3_8b", "qwen3", "Qwen3-8B", 40960, 36, 4096, 32, 8, 12288, 151936, head=128,
                 qk_norm=True),
    llama_recipe("llama3_2_1b", "llama", f"Llama-3.2-1B, as in {TORCHTUNE}", 131072, 16, 2048, 32,
                 8, 8192, 128256, tied=True),
    llama_recipe("llama3_2_3b", "llama", f"Llama-3.2-3B, as in {TORCHTUNE}", 131072, 28, 3072, 24,
                 8, 8192, 128256, tied=True),
    llama_recipe("mistral_small_24b", "mistral", f"Mistral-Small-24B-2501, as in {MEGATRON_BRIDGE}",
                 32768, 40, 5120, 32, 8, 32768, 131072, head=128),
    llama_recipe("qwen3_0_6b", "qwen3", f"Qwen3-0.6B, as in {TORCHTUNE}", 40960, 28, 1024, 16, 8,
                 3072, 151936, head=128, qk_norm=True, tied=True),
    llama_recipe("qwen3_4b", "qwen3", f"Qwen3-4B, as in {TORCHTUNE}", 40960, 36, 2560, 32, 8, 9728,
                 151936, head=128, qk_norm=True, tied=True),
    llama_recipe("qwen3_14b", "qwen3", f"Qwen3-14B, as in {TORCHTUNE}", 40960, 40, 5120, 40, 8,
                 17408, 151936, head=128, qk_norm=True),
    llama_recipe("qwen3_32b", "qwen3", f"Qwen3-32B, as in {TORCHTUNE}", 40960, 64, 5120, 64, 8,
                 25600, 151936, head=128, qk_norm=True),
    llama_recipe("gemma2_9b", "gemma2", f"Gemma-2-9b, as in {TORCHTUNE}", 8192, 42, 3584, 16, 8,
                 14336, 256000, head=256, tied=True, four_norms=True),
    llama_recipe("gemma3_4b", "gemma3", f"Gemma-3-4b without its image encoder, as in {GEMMA3}",
                 131072, 34, 2560, 8, 4, 10240, 262208, head=256, qk_norm=True, tied=True,
                 four_norms=True),
    llama_recipe("gemma3_12b", "gemma3", f"Gemma-3-12b without its image encoder, as in {GEMMA3}",
                 131072, 48, 3840, 16, 8, 15360, 262208, head=256, qk_norm=True, tied=True,
                 four_norms=True),
    Recipe("lstm_ptb", "lstm", "two-layer LSTM language model for Penn Treebank", tuple(lstm_ptb()),
           sequence_length=35),
)

RECIPES = {recipe.name: recipe for recipe in ALL}
