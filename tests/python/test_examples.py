"""The examples do what they say."""
import numpy as np
import pytest


def test_the_hand_carries_the_cable_and_feels_its_weight():
    import gripper

    done = gripper.carry(seconds=3.0)
    assert done["position"][-1] == pytest.approx([0.3, 0, 0], abs=5e-3)
    late = done["time"] > 2.5
    assert done["pull"][late].mean(axis=0) == pytest.approx(done["weight"], abs=0.03 * np.abs(done["weight"]).max())
    # On the way the cable lags behind and is pulled up as well.
    assert np.linalg.norm(done["pull"], axis=1).max() > 1.1 * np.linalg.norm(done["weight"])


def test_the_cable_can_be_put_into_the_socket():
    pytest.importorskip("gymnasium")
    import cable_insertion
    from gymnasium.utils.env_checker import check_env

    check_env(cable_insertion.CableInsertion(most_steps=5), skip_render_check=True)
    env = cable_insertion.CableInsertion()
    observation, _ = env.reset(seed=3)
    done = late = False
    while not (done or late):
        observation, reward, done, late, info = env.step(cable_insertion.follow_the_socket(observation))
    assert done and info["is_success"] and env.depth() > cable_insertion.DEPTH
    # Every vertex in the socket is within its bore.
    inside = env.simulation.positions - env._mouth
    inside = inside[inside[:, 0] > 0.002]
    assert len(inside) >= 2 and (np.hypot(inside[:, 1], inside[:, 2]) < 6.5e-3).all()
