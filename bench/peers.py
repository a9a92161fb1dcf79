# Beta Thompson sampling on five Bernoulli arms by packages of Python, those that are installed: a line for each, with its
# name, its version and nanoseconds of processor time a round. Called by bench/peers.R.
import importlib.metadata as metadata
import random
import time

MEANS = [0.75, 0.625, 0.5, 0.375, 0.25]


def timed(name, rounds, play):
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        play(rounds)
        best = min(best, time.process_time() - start)
    print(name, metadata.version(name), round(1e9 * best / rounds), sep=",", flush=True)


def mabwiser(rounds):
    from mabwiser.mab import MAB, LearningPolicy
    bandit = MAB(arms=list(range(5)), learning_policy=LearningPolicy.ThompsonSampling(), seed=1)
    bandit.fit(list(range(5)), [0, 1, 0, 1, 0])
    for _ in range(rounds):
        arm = bandit.predict()
        bandit.partial_fit([arm], [int(random.random() < MEANS[arm])])


def smpybandits(rounds):
    from SMPyBandits.Arms import Bernoulli
    from SMPyBandits.Policies import Thompson
    arms = [Bernoulli(p) for p in MEANS]
    policy = Thompson(5)
    policy.startGame()
    for t in range(rounds):
        arm = policy.choice()
        policy.getReward(arm, arms[arm].draw(t))


for name, rounds, play in [("mabwiser", 2000, mabwiser), ("SMPyBandits", 10000, smpybandits)]:
    try:
        timed(name, rounds, play)
    except ImportError:
        pass
