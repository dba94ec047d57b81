"""Recipes of networks on token sequences, in the notation of network.py and in registration order.

`layers` blocks of width `h`; the sequence length S stays a letter here, so that one recipe serves
every length.
"""


def bert(layers, h, vocabulary=30522, pretrain=False):
    yield f"emb embeddings.word_embeddings {vocabulary} {h}"
    yield f"emb embeddings.position_embeddings 512 {h}"
    yield f"emb embeddings.token_type_embeddings 2 {h}"
    yield f"ln embeddings.LayerNorm {h}"
    for index in range(layers):
        name = f"encoder.layer.{index}"
        for part in ("query", "key", "value"):
            yield f"fc {name}.attention.self.{part} {h}>{h} xS"
        yield f"attn {name}.attention.scores {h}"
        yield f"fc {name}.attention.output.dense {h}>{h} xS"
        yield f"ln {name}.attention.output.LayerNorm {h}"
        yield f"fc {name}.intermediate.dense {h}>{4 * h} xS"
        yield f"fc {name}.output.dense {4 * h}>{h} xS"
        yield f"ln {name}.output.LayerNorm {h}"
    yield f"fc pooler.dense {h}>{h}"
    if pretrain:
        yield f"tied cls.predictions {vocabulary} {h} +b"
        yield f"fc cls.predictions.transform.dense {h}>{h} xS"
        yield f"ln cls.predictions.transform.LayerNorm {h}"
        yield f"fc cls.seq_relationship {h}>2"


def gpt2(layers, h):
    yield f"emb wte 50257 {h}"
    yield f"emb wpe 1024 {h}"
    for index in range(layers):
        name = f"h.{index}"
        yield f"ln {name}.ln_1 {h}"
        yield f"fc {name}.attn.c_attn {h}>{3 * h} xS"
        yield f"attn {name}.attn.scores {h}"
        yield f"fc {name}.attn.c_proj {h}>{h} xS"
        yield f"ln {name}.ln_2 {h}"
        yield f"fc {name}.mlp.c_fc {h}>{4 * h} xS"
        yield f"fc {name}.mlp.c_proj {4 * h}>{h} xS"
    yield f"ln ln_f {h}"
    yield f"tied lm_head 50257 {h}"


def lstm_ptb():
    yield "emb embedding 10000 1500"
    yield "lstm lstm.l0 1500 1500"
    yield "lstm lstm.l1 1500 1500"
    yield "fc fc 1500>10000 xS"
