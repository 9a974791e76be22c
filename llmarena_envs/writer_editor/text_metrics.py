"""Comparison of translations with references, by sacrebleu (``pip install 'llmarena-envs[text]'``).

Sources: chrF++ (Popović 2017, doi 10.18653/v1/W17-4770) and sacrebleu's BLEU (Post 2018, doi 10.18653/v1/W18-6319).
"""

import importlib.util

from llmarena_envs.writer_editor.task_types import Document

BEST = 100.0
"""Maximum of both metrics."""

_TOKENIZERS = {"zh": "zh", "ja": "char", "ko": "char"}
"""BLEU tokenizers by language; others split at blanks and punctuation."""


def has_text_metrics() -> bool:
    """Returns whether sacrebleu is installed."""
    return importlib.util.find_spec("sacrebleu") is not None


def chrf(text: str, document: Document) -> float | None:
    """Returns chrF++ of a translation (0 to 100), or ``None`` without a reference or without sacrebleu."""
    if not document.tgt or not has_text_metrics():
        return None
    import sacrebleu

    return float(sacrebleu.sentence_chrf(text, [document.tgt], word_order=2).score)


def bleu(text: str, document: Document) -> float | None:
    """Returns BLEU of a translation (0 to 100), smoothed as for single sentences; ``None`` as for ``chrf``."""
    if not document.tgt or not has_text_metrics():
        return None
    import sacrebleu

    tokenizer = _TOKENIZERS.get(document.tgt_lang.lower().partition("-")[0], "13a")
    # One segment per line: BLEU counts words and ignores line breaks.
    hypothesis, reference = (" ".join(side.split()) for side in (text, document.tgt))
    return float(sacrebleu.sentence_bleu(hypothesis, [reference], tokenize=tokenizer).score)
