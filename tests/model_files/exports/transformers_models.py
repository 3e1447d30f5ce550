"""Small networks of transformers' classes, built from configurations, with nothing to download: a function
each that returns the module and its sample inputs by name."""
import torch
from torch import nn

import transformers as hf


class Logits(nn.Module):
    """The first output of a model alone, as exporters write outputs of every kind otherwise."""

    def __init__(self, model, of, names, masked, fixed):
        super().__init__()
        self.model, self.of, self.names, self.masked, self.fixed = model, of, names, masked, fixed

    def forward(self, *values):
        given = dict(zip(self.names, values))
        if self.masked:  # the older exporter lacks what finds masks out
            given["attention_mask"] = torch.ones_like(values[0])
        return getattr(self.model(**given, **self.fixed), self.of)


def logits(model, of, sample, masked=False, **fixed):
    return Logits(model.eval(), of, list(sample), masked, fixed), sample


def tokens(vocabulary, *shape):
    return torch.randint(0, vocabulary, shape)


def llama():
    config = hf.LlamaConfig(vocab_size=50, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=32)
    return logits(hf.LlamaForCausalLM(config), "logits", {"input_ids": tokens(50, 2, 8)}, True, use_cache=False)


def qwen2():
    config = hf.Qwen2Config(vocab_size=50, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=32)
    return logits(hf.Qwen2ForCausalLM(config), "logits", {"input_ids": tokens(50, 2, 8)}, True, use_cache=False)


def gpt2():
    config = hf.GPT2Config(vocab_size=50, n_positions=16, n_embd=32, n_layer=2, n_head=4, resid_pdrop=0,
                           embd_pdrop=0, attn_pdrop=0)
    return logits(hf.GPT2LMHeadModel(config), "logits", {"input_ids": tokens(50, 2, 8)}, True, use_cache=False)


def bert():
    config = hf.BertConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                           intermediate_size=48, max_position_embeddings=16, num_labels=5, pad_token_id=None)
    return logits(hf.BertForSequenceClassification(config), "logits", {"input_ids": tokens(50, 2, 8)})


def bert_masked():
    module, sample = bert()
    module.names.append("attention_mask")
    return module, sample | {"attention_mask": torch.ones(2, 8, dtype=torch.long)}


def vit():
    config = hf.ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
                          image_size=16, patch_size=4, num_labels=5)
    return logits(hf.ViTForImageClassification(config), "logits", {"pixel_values": torch.randn(2, 3, 16, 16)})


def swin():
    config = hf.SwinConfig(image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4],
                           window_size=4, num_labels=5, drop_path_rate=0, attn_implementation="eager")
    return logits(hf.SwinForImageClassification(config), "logits", {"pixel_values": torch.randn(2, 3, 32, 32)})


def convnext():
    config = hf.ConvNextConfig(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_labels=5, image_size=32)
    return logits(hf.ConvNextForImageClassification(config), "logits",
                  {"pixel_values": torch.randn(2, 3, 32, 32)})


def segformer():
    config = hf.SegformerConfig(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4],
                                decoder_hidden_size=16, num_labels=5, drop_path_rate=0)
    return logits(hf.SegformerForSemanticSegmentation(config), "logits",
                  {"pixel_values": torch.randn(2, 3, 64, 64)})


def efficientnet():
    config = hf.EfficientNetConfig(
        image_size=32, width_coefficient=0.25, depth_coefficient=0.25, hidden_dim=320, depth_divisor=4,
        dropout_rate=0, drop_connect_rate=0, num_labels=5)
    return logits(hf.EfficientNetForImageClassification(config), "logits",
                  {"pixel_values": torch.randn(2, 3, 32, 32)})


def whisper_encoder():
    config = hf.WhisperConfig(d_model=32, encoder_layers=2, decoder_layers=1, encoder_attention_heads=4,
                              decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48,
                              max_source_positions=16, num_mel_bins=8, vocab_size=50, pad_token_id=0,
                              bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
    return logits(hf.WhisperModel(config).get_encoder(), "last_hidden_state",
                  {"input_features": torch.randn(2, 8, 32)})


def t5():
    config = hf.T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_decoder_layers=2,
                         num_heads=4, dropout_rate=0, attn_implementation="eager", decoder_start_token_id=0)
    return logits(hf.T5ForConditionalGeneration(config), "logits",
                  {"input_ids": tokens(50, 2, 8), "decoder_input_ids": tokens(50, 2, 6)}, use_cache=False)


def t5_encoder():
    config = hf.T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, dropout_rate=0,
                         attn_implementation="eager")
    return logits(hf.T5EncoderModel(config), "last_hidden_state", {"input_ids": tokens(50, 2, 8)})


MODELS = {function.__name__: function for function in
          (llama, qwen2, gpt2, bert, bert_masked, vit, swin, convnext, segformer, efficientnet, whisper_encoder,
           t5, t5_encoder)}
