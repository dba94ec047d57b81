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
        yield f"attn {name}.attention.scores {h} a{h // 64}"
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
        yield f"attn {name}.attn.scores {h} a{h // 64}"
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
        yield f"attn {name}.self_attn.scores {heads * head} a{heads}"
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
        yield f"attn {name}.self_attention.scores {h} a{h // (80 if h == 1280 else 64)}"
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
        yield f"attn {name}.attn.scores {h} a{h // 72}"
        yield f"fc {name}.attn.proj {h}>{h} xS"
        yield f"fc {name}.mlp.fc1 {h}>{4 * h} xS"
        yield f"fc {name}.mlp.fc2 {4 * h}>{h} xS"
        yield f"fc {name}.adaLN_modulation.1 {h}>{6 * h}"
    yield f"fc final_layer.linear {h}>32 xS"
    yield f"fc final_layer.adaLN_modulation.1 {h}>{2 * h}"


def t5(layers, h, f, vocabulary=32128, heads=16):
    """Encoder and decoder of `layers` blocks each, both on S tokens; relative positions."""
    yield f"emb shared {vocabulary} {h}"
    for side, attentions in (("encoder", ("SelfAttention",)),
                             ("decoder", ("SelfAttention", "EncDecAttention"))):
        for index in range(layers):
            for part, attention in enumerate(attentions):
                name = f"{side}.block.{index}.layer.{part}"
                for projection in ("q", "k", "v"):
                    yield f"lin {name}.{attention}.{projection} {h}>{h}"
                yield f"attn {name}.{attention}.scores {h} a{heads}"
                yield f"lin {name}.{attention}.o {h}>{h}"
                if index == 0 and part == 0:
                    yield f"emb {name}.{attention}.relative_attention_bias 32 {heads}"
                yield f"rms {name}.layer_norm {h}"
            name = f"{side}.block.{index}.layer.{len(attentions)}"
            yield f"lin {name}.DenseReluDense.wi {h}>{f}"
            yield f"lin {name}.DenseReluDense.wo {f}>{h}"
            yield f"rms {name}.layer_norm {h}"
        yield f"rms {side}.final_layer_norm {h}"
    yield f"tied lm_head {vocabulary} {h}"


def bart(layers, h, f, vocabulary=50265):
    """Encoder and decoder of `layers` blocks each, both on S tokens."""
    yield f"emb model.shared {vocabulary} {h}"
    for side in ("encoder", "decoder"):
        name = f"model.{side}"
        yield f"emb {name}.embed_positions 1026 {h}"
        for index in range(layers):
            yield from seq2seq_block(f"{name}.layers.{index}", h, f, side == "decoder")
        yield f"ln {name}.layernorm_embedding {h}"
    yield f"tied lm_head {vocabulary} {h}"


def whisper(layers, h, f, mels=128, vocabulary=51866):
    """1500 positions of 30 s of sound in the encoder, S tokens of text in the decoder."""
    yield "resize 1x3000"
    yield f"conv model.encoder.conv1 {mels}>{h} k1x3 p0x1 +b"
    yield f"conv model.encoder.conv2 {h}>{h} k1x3 s1x2 p0x1 +b"
    for index in range(layers):
        yield from seq2seq_block(f"model.encoder.layers.{index}", h, f, False, rows=1500,
                                 key_bias=False)
    yield f"ln model.encoder.layer_norm {h}"
    yield f"emb model.decoder.embed_tokens {vocabulary} {h}"
    yield f"emb model.decoder.embed_positions 448 {h}"
    for index in range(layers):
        yield from seq2seq_block(f"model.decoder.layers.{index}", h, f, True, memory=1500,
                                 key_bias=False)
    yield f"ln model.decoder.layer_norm {h}"
    yield f"tied proj_out {vocabulary} {h}"


def seq2seq_block(name, h, f, cross, rows="S", memory="S", key_bias=True):
    """A block on `rows`; with `cross` it also attends to `memory` rows of the encoder."""
    attentions = (("self_attn", rows), ("encoder_attn", memory))[:2 if cross else 1]
    for attention, keys in attentions:
        bias = " +b" if key_bias else ""
        yield f"lin {name}.{attention}.k_proj {h}>{h} x{keys}{bias}"
        yield f"fc {name}.{attention}.v_proj {h}>{h} x{keys}"
        yield f"fc {name}.{attention}.q_proj {h}>{h} x{rows}"
        yield f"attn {name}.{attention}.scores {h} a{h // 64} x{rows}x{keys}"
        yield f"fc {name}.{attention}.out_proj {h}>{h} x{rows}"
        yield f"ln {name}.{attention}_layer_norm {h}"
    yield f"fc {name}.fc1 {h}>{f} x{rows}"
    yield f"fc {name}.fc2 {f}>{h} x{rows}"
    yield f"ln {name}.final_layer_norm {h}"


def lstm_ptb():
    yield "emb embedding 10000 1500"
    yield "lstm lstm.l0 1500 1500"
    yield "lstm lstm.l1 1500 1500"
    yield "fc fc 1500>10000 xS"
