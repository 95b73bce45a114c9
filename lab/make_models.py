# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes tiny models in real Hugging Face format, offline. Runs with an engine's Python: make_models.py FOLDER.

Random weights from a fixed seed and a tokenizer trained on two sentences: tiny-qwen2 answers "the quick brown" with
" brown" again and again, which a test can assert. Each model is about 1.5 MB.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)

TEXT = ["the quick brown fox jumps over the lazy dog. ", "a model is served from a read-only mount. "] * 200
VOCABULARY = 512
COMMON = {
    "vocab_size": VOCABULARY, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 256,
}  # fmt: skip
GROUPED = {"intermediate_size": 256, "num_key_value_heads": 1}


def train_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<pad>", "<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="</s>",
        model_max_length=256,
    )  # fmt: skip


def main(out: Path) -> None:
    tokenizer = train_tokenizer()
    torch.manual_seed(0)
    # The order of making decides the weights, and with them the answers.
    opt = OPTForCausalLM(OPTConfig(word_embed_proj_dim=128, ffn_dim=256, **COMMON)).float()
    llama = LlamaForCausalLM(LlamaConfig(tie_word_embeddings=False, **GROUPED, **COMMON)).float()
    qwen = Qwen2ForCausalLM(Qwen2Config(tie_word_embeddings=True, **GROUPED, **COMMON)).float()
    torch.manual_seed(1)
    # Untied: with its embeddings tied, any such model repeats the last word, whatever its weights.
    qwen_next = Qwen2ForCausalLM(Qwen2Config(tie_word_embeddings=False, **GROUPED, **COMMON)).float()
    for name, model, shard in (
        ("tiny-opt", opt, "5GB"),
        ("tiny-llama-sharded", llama, "300KB"),
        ("tiny-qwen2", qwen, "5GB"),
        ("tiny-qwen2-next", qwen_next, "5GB"),
    ):
        model.save_pretrained(out / name, max_shard_size=shard)
        model.generation_config.save_pretrained(out / name)
        tokenizer.save_pretrained(out / name)


main(Path(sys.argv[1]))
