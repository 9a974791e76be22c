"""Replaces vLLM where TRL calls it: a colocated engine and a client of a server, both with the weights that TRL sends them."""

import copy
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from trl.generation import vllm_generation


class Engine:
    """Samples from its own copy of a model, whose weights are zero until they are sent.

    Attributes:
        calls: number of prompts and maximum length of each call.
        stale: number of calls with other weights than the model in training had.
    """

    def __init__(self, model: Any) -> None:
        self.trained = model
        self.model = copy.deepcopy(model).eval()
        self.weights = dict(self.model.named_parameters())
        for weight in self.weights.values():
            weight.data.zero_()
        self.calls: list[tuple[int, int]] = []
        self.stale = 0

    def load(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        for name, weight in weights:
            self.weights[name].data.copy_(weight)

    @torch.no_grad()
    def sample(self, prompts: Sequence[list[int]], limit: int, temperature: float) -> list[list[tuple[int, float]]]:
        """Returns tokens and log probabilities of a reply to each prompt."""
        self.calls.append((len(prompts), limit))
        pairs = zip(self.model.parameters(), self.trained.parameters(), strict=True)
        self.stale += not all(torch.equal(own, trained) for own, trained in pairs)
        replies = []
        for prompt in prompts:
            ids, reply = list(prompt), list[tuple[int, float]]()
            while len(reply) < limit and ids[-1:] != [self.model.config.eos_token_id] * bool(reply):
                logits = self.model(input_ids=torch.tensor([ids])).logits[0, -1] / temperature
                token = int(torch.multinomial(logits.softmax(-1), 1))
                reply.append((token, float(logits.log_softmax(-1)[token])))
                ids.append(token)
            replies.append(reply)
        return replies


class LLM:
    """Replaces ``vllm.LLM`` for a colocated engine."""

    def __init__(self, engine: Engine, max_model_len: int) -> None:
        self._engine = engine
        runner = SimpleNamespace(model=SimpleNamespace(load_weights=engine.load))
        executor = SimpleNamespace(driver_worker=SimpleNamespace(model_runner=runner))
        config = SimpleNamespace(max_model_len=max_model_len)
        self.llm_engine = SimpleNamespace(model_executor=executor, model_config=config)

    def reset_prefix_cache(self) -> None:
        pass

    def generate(self, prompts: Any, sampling_params: Any, use_tqdm: bool) -> list[Any]:
        ids = [prompt["prompt_token_ids"] for prompt in prompts]
        replies = self._engine.sample(ids, sampling_params.max_tokens, sampling_params.temperature)
        return [
            SimpleNamespace(
                prompt_token_ids=prompt,
                outputs=[
                    SimpleNamespace(
                        token_ids=[token for token, _ in reply],
                        logprobs=[{token: SimpleNamespace(rank=1, logprob=logprob)} for token, logprob in reply],
                    )
                ],
            )
            for prompt, reply in zip(ids, replies, strict=True)
        ]


class Client:
    """Replaces TRL's ``VLLMClient``."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def init_communicator(self, device: Any) -> None:
        pass

    def reset_prefix_cache(self) -> None:
        pass

    def get_server_info(self) -> Any:
        return {"model_config": {"logprobs_mode": "processed_logprobs"}}

    def update_named_params(self, metadata: Any, params: Iterable[tuple[str, torch.Tensor]]) -> None:
        self._engine.load(params)

    def generate(self, prompts: Any, n: int, max_tokens: int, temperature: float, **others: Any) -> dict[str, Any]:
        replies = self._engine.sample([prompt for prompt in prompts for _ in range(n)], max_tokens, temperature)
        return {
            "prompt_ids": prompts,
            "completion_ids": [[token for token, _ in reply] for reply in replies],
            "logprobs": [[[logprob] for _, logprob in reply] for reply in replies],
        }


def install(patch: pytest.MonkeyPatch, model: Any, max_model_len: int = 4096) -> Engine:
    """Puts an engine with the architecture of a model in vLLM's place."""
    engine = Engine(model)
    patch.setattr(vllm_generation, "is_vllm_available", lambda: True)
    patch.setattr(vllm_generation, "LLM", lambda **_: LLM(engine, max_model_len), raising=False)
    patch.setattr(vllm_generation, "SamplingParams", lambda **given: SimpleNamespace(**given), raising=False)
    patch.setattr(vllm_generation, "VLLMClient", lambda **_: Client(engine))
    return engine
