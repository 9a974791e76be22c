from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from llmarena_envs import bargain_v0

# Use any chat model of LangChain. This one gives fixed answers.
model = GenericFakeChatModel(messages=iter([AIMessage("1 hat 0 balls 0 apples"), AIMessage("Deal")]))

env = bargain_v0.env(instance=[[1, 2, 2], [2, 2, 2], [4, 1, 2]])
env.reset(seed=0)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    if termination or truncation:
        env.step(None)
        continue
    answer = model.invoke([SystemMessage(observation["rules"]), HumanMessage(observation["text"])])
    env.step(env.unwrapped.parse(str(answer.content), agent))
