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


def llama(layers, h, heads, kv_heads, f, vocabulary, head=None, bias=False, qk_norm=False,
          tied=False, four_norms=False):
    """Decoder with gated MLP: `heads` of width `head` share `kv_heads` keys and values; f: width of the MLP.

    With `four_norms` the output of attention and that of the MLP have norms, too.
    """
    head = head or h // heads
    with_bias = " +b" if bias else ""
    yield f"emb model.embed_tokens {vocabulary} {h}"
    for index in range(layers):
        name = f"model.layers.{index}"
        yield f"lin {name}.self_attn.q_proj {h}>{heads * head}{with_bias}"
        yield f"lin {name}.self_attn.k_proj {h}>{kv_heads * head}{with_bias}"
        yield f"lin {name}.self_attn.v_proj {h}>{kv_heads * head}{with_bias}"
        yield f"attn {name}.self_attn.scores {heads * head}"
        yield f"lin {name}.self_attn.o_proj {heads * head}>{h}"
        if qk_norm:
            yield f"rms {name}.self_attn.q_norm {head}"
            yield f"rms {name}.self_attn.k_norm {head}"
        yield f"lin {name}.mlp.gate_proj {h}>{f}"
        yield f"lin {name}.mlp.up_proj {h}>{f}"
        yield f"lin {name}.mlp.down_proj {f}>{h}"
        yield f"rms {name}.input_layernorm {h}"
        yield f"rms {name}.post_attention_layernorm {h}"
        if four_norms:
            yield f"rms {name}.pre_feedforward_layernorm {h}"
            yield f"rms {name}.post_feedforward_layernorm {h}"
    yield f"rms model.norm {h}"
    yield f"tied lm_head {vocabulary} {h}" if tied else f"lin lm_head {h}>{vocabulary}"


def vit(layers, h, patch, image=224):
    """The class token and the positions are embeddings of 1 and of S rows."""
    tokens = (image // patch) ** 2 + 1
    yield f"resize {image}"
    yield f"emb class_token 1 {h}"
    yield f"conv conv_proj 3>{h} k{patch} s{patch} +b"
    yield f"emb encoder.pos_embedding {tokens} {h}"
    for index in range(layers):
        name = f"encoder.layers.encoder_layer_{index}"
        yield f"ln {name}.ln_1 {h}"
        yield f"fc {name}.self_attention.in_proj {h}>{3 * h} xS"
        yield f"attn {name}.self_attention.scores {h}"
        yield f"fc {name}.self_attention.out_proj {h}>{h} xS"
        yield f"ln {name}.ln_2 {h}"
        yield f"fc {name}.mlp.0 {h}>{4 * h} xS"
        yield f"fc {name}.mlp.3 {4 * h}>{h} xS"
    yield f"ln encoder.ln {h}"
    yield f"fc heads.head {h}>1000"


def dit(layers, h, latent=32):
    """Patches of 2 x 2; fixed positions are no parameters, and norms have none of their own."""
    yield f"resize {latent}"
    yield f"conv x_embedder.proj 4>{h} k2 s2 +b"
    yield f"fc t_embedder.mlp.0 256>{h}"
    yield f"fc t_embedder.mlp.2 {h}>{h}"
    yield f"emb y_embedder.embedding_table 1001 {h}"
    for index in range(layers):
        name = f"blocks.{index}"
        yield f"fc {name}.attn.qkv {h}>{3 * h} xS"
        yield f"attn {name}.attn.scores {h}"
        yield f"fc {name}.attn.proj {h}>{h} xS"
        yield f"fc {name}.mlp.fc1 {h}>{4 * h} xS"
        yield f"fc {name}.mlp.fc2 {4 * h}>{h} xS"
        yield f"fc {name}.adaLN_modulation.1 {h}>{6 * h}"
    yield f"fc final_layer.linear {h}>32 xS"
    yield f"fc final_layer.adaLN_modulation.1 {h}>{2 * h}"


def lstm_ptb():
    yield "emb embedding 10000 1500"
    yield "lstm lstm.l0 1500 1500"
    yield "lstm lstm.l1 1500 1500"
    yield "fc fc 1500>10000 xS"
