"""Which rights the chart asks for: those of its values and no other."""

from __future__ import annotations

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from emitter.owners.places import HANDED_OVER
from emitter.owners.pod_resources import SOCKET
from tests.deploy.eks.test_chart_rendered import EVERYTHING

VALUES = st.fixed_dictionaries(
    {
        "attribution": st.builds(
            lambda on, pids, names: {"enabled": on, "hostPID": pids, "names": names},
            st.booleans(),
            st.booleans(),
            st.sampled_from(["owner", "team"]),
        ),
        "kernelMessages": st.builds(lambda on: {"enabled": on}, st.booleans()),
        "privileged": st.booleans(),
        "spool": st.builds(lambda kind: {"type": kind}, st.sampled_from(["hostPath", "emptyDir"])),
        "networkPolicy": st.builds(lambda on: {"enabled": on}, st.booleans()),
        "user": st.integers(1, 4294967294),
    }
).filter(lambda values: values["privileged"] or not values["kernelMessages"]["enabled"])


def host_paths(pod):
    """The folders of the node that a pod has."""
    return {one["hostPath"]["path"] for one in pod["volumes"] if "hostPath" in one}


def mounted(container, *, is_read_only=False):
    """Where a container has its volumes."""
    mounts = container["volumeMounts"]
    return {one["mountPath"] for one in mounts if one.get("readOnly", False) == is_read_only}


def test_the_container_that_asks_writes_where_the_emitter_reads(render):
    """By the path that both know, in a program that the image has."""
    emitter, asking = render().pod["containers"]
    assert ["python", "-m", "emitter.owners"] == asking["command"]
    assert emitter["image"] == asking["image"]
    assert str(HANDED_OVER.parent) in mounted(emitter, is_read_only=True) & mounted(asking)
    assert f"/{SOCKET}".startswith(*mounted(asking, is_read_only=True))


@settings(
    max_examples=25,
    phases=(Phase.explicit, Phase.generate),  # an example is small, and rendering it is not
)
@given(VALUES)
def test_no_combination_gives_a_right_that_was_not_asked_for(render, values):
    """
    The kubelet's socket with attribution alone, the node's processes and the names of its pods
    with hostPID beside it, all devices with privileged alone, root with the kernel's messages
    alone; nothing else of the node but the spool.
    """
    rendered = render(values)
    pod, container = rendered.pod, rendered.container
    security = container["securityContext"]
    asks_kubelet = values["attribution"]["enabled"]
    names_pods = asks_kubelet and values["attribution"]["hostPID"]
    reads_kernel = values["kernelMessages"]["enabled"]
    on_host = values["spool"]["type"] == "hostPath"

    assert names_pods == pod.get("hostPID", False)
    assert values["privileged"] == security["privileged"]
    assert (0 if reads_kernel else values["user"]) == security["runAsUser"]
    assert security["runAsNonRoot"] is not reads_kernel
    assert security["readOnlyRootFilesystem"] is True
    if not values["privileged"]:
        assert {"drop": ["ALL"]} == security["capabilities"]
        assert security["allowPrivilegeEscalation"] is False
    else:
        # Kubernetes refuses a privileged container that may not escalate
        assert security.get("allowPrivilegeEscalation") is None
    assert {"hostNetwork", "hostIPC", "shareProcessNamespace"}.isdisjoint(pod)
    assert pod["automountServiceAccountToken"] is False
    names = {"/var/log/pods", "/var/log/containers"} if names_pods else set()
    socket = {"/var/lib/kubelet/pod-resources"} if asks_kubelet else set()
    spool = {"/var/lib/neuron-emf"} if on_host else set()
    assert names | socket | spool == host_paths(pod)
    handed_over = {"/run/neuron-emf"} if asks_kubelet else set()
    assert names | handed_over == mounted(container, is_read_only=True)
    for asking in pod["containers"][1:]:
        assert asks_kubelet
        assert (handed_over, socket) == (mounted(asking), mounted(asking, is_read_only=True))
        assert {
            "runAsUser": 0, "runAsNonRoot": False, "privileged": False,
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        } == asking["securityContext"]  # fmt: skip
    for init in pod.get("initContainers", []):
        assert on_host
        assert not reads_kernel
        assert "privileged" not in init["securityContext"]
        capabilities = init["securityContext"]["capabilities"]
        assert {"drop": ["ALL"], "add": ["CHOWN", "DAC_READ_SEARCH"]} == capabilities
    assert values["networkPolicy"]["enabled"] == bool(rendered.of_kind("NetworkPolicy"))
    named = {"owner": "auto", "team": "team"}[values["attribution"]["names"]]
    assert (named if asks_kubelet else "none") == rendered.variables["NEURON_EMF_ATTRIBUTION"]
    assert ("kmsg" if reads_kernel else "none") == rendered.variables["NEURON_EMF_KERNEL_MESSAGES"]


def test_the_spool_is_the_users_also_where_the_kubelet_made_it(render):
    """As root for that alone; an emptyDir is given to the group instead."""
    (init,) = render().pod["initContainers"]
    assert ["chown", "-R", "10001:10001", "/var/lib/neuron-emf"] == init["command"]
    in_memory = render({"spool": {"type": "emptyDir"}}).pod
    assert "initContainers" not in in_memory
    assert 10001 == in_memory["securityContext"]["fsGroup"]


def test_devices_are_not_taken_from_anybody(render):
    """What a device plugin counts is not asked for: a core that we held nobody else could have."""
    resources = render().container["resources"]
    assert {"cpu", "memory"} == resources["requests"].keys()
    assert {"memory"} == resources["limits"].keys()


def test_the_network_policy_lets_nothing_in_but_scrapes(render):
    """
    Where a port for them is asked for; and out only what the emitter asks: names, HTTPS, and the
    two addresses of the node.
    """
    (policy,) = render(EVERYTHING).of_kind("NetworkPolicy")
    assert ["Ingress", "Egress"] == policy["spec"]["policyTypes"]
    assert [{"ports": [{"protocol": "TCP", "port": 8008}]}] == policy["spec"]["ingress"]
    (closed,) = render({"networkPolicy": {"enabled": True}}).of_kind("NetworkPolicy")
    assert [] == closed["spec"]["ingress"]
    ports = {port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]}
    assert {53, 80, 443} == ports
    (daemon,) = render(EVERYTHING).of_kind("DaemonSet")
    labels = daemon["spec"]["template"]["metadata"]["labels"]
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
