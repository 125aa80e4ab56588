import type { V1NetworkPolicyPort, V1NetworkPolicySpec } from "@kubernetes/client-node";
import type { Plain } from "./objects.ts";
import type { NetworkPeer, PodSettings } from "./pod-settings.ts";

/** Networks that are not public (IANA special-purpose registries); the rest is the internet. */
const notInternet = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];
/** 2000::/3 is all assigned IPv6. Teredo and 6to4 within it lead to arbitrary IPv4 addresses. */
const internet6 = "2000::/3";
const notInternet6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

/**
 * Denies all ingress to runners (policies never block the kubelet's probes). Allows egress to NATS, DNS, the trace collector, the public
 * internet, and the networks that the pool allows. The egress policy inside the runner is the same; this one also holds for code that has
 * escaped the sandbox.
 */
export function networkPolicySpec(
  settings: PodSettings,
  matchLabels: Readonly<Record<string, string>>,
  egressAllow: readonly string[],
): Plain<V1NetworkPolicySpec> {
  // An IPv4-only network plugin may reject a policy with IPv6, and then enforce none.
  const allowed = [...settings.egressAllow, ...egressAllow].filter((cidr) => settings.ipv6 || !isV6(cidr));
  return {
    podSelector: { matchLabels },
    policyTypes: ["Ingress", "Egress"],
    ingress: settings.scrapedBy.length === 0 ? [] : [{ from: settings.scrapedBy, ports: [tcp(settings.healthPort)] }],
    egress: [
      { to: settings.nats.peers, ports: settings.nats.ports.map(tcp) },
      ...(settings.dns.length === 0 ? [] : [{ to: settings.dns, ports: [{ protocol: "UDP", port: 53 }, tcp(53)] }]),
      ...(settings.collector.peers.length === 0 ? [] : [{ to: settings.collector.peers, ports: settings.collector.ports.map(tcp) }]),
      { to: [...internet(settings), ...allowed.map((cidr): NetworkPeer => ({ ipBlock: { cidr } }))] },
    ],
  };
}

function internet({ blockedCidrs, ipv6 }: PodSettings): readonly NetworkPeer[] {
  const block = (cidr: string, except: readonly string[]): NetworkPeer => ({ ipBlock: { cidr, except: [...new Set(except)] } });
  const v4 = block("0.0.0.0/0", [...notInternet, ...blockedCidrs.filter((cidr) => !isV6(cidr))]);
  if (!ipv6) return [v4];
  // Addresses outside 2000::/3 are unreachable anyway, and an exception must be inside its block.
  return [v4, block(internet6, [...notInternet6, ...blockedCidrs.filter((cidr) => /^[23][0-9a-f]{3}:/i.test(cidr))])];
}

const isV6 = (cidr: string): boolean => cidr.includes(":");

const tcp = (port: number): Plain<V1NetworkPolicyPort> => ({ protocol: "TCP", port });
