import type { V1Volume, V1VolumeMount } from "@kubernetes/client-node";
import type { Plain } from "./objects.ts";
import type { PodSettings } from "./pod-settings.ts";

const tlsPath = "/tls";

/** How a runner verifies NATS and the trace collector, and its client certificate: settings, and one volume with the files. */
export interface PodTls {
  readonly environment: Readonly<Record<string, string>>;
  readonly mounts: Plain<V1VolumeMount[]>;
  readonly volumes: Plain<V1Volume[]>;
}

export function podTls({ nats, collector }: Pick<PodSettings, "nats" | "collector">): PodTls {
  const { ca, caSecret, clientSecret } = nats.tls;
  const sources = [
    ...(caSecret === "" ? [] : [source(caSecret, "nats", ["ca.crt"])]),
    ...(clientSecret === "" ? [] : [source(clientSecret, "nats", ["tls.crt", "tls.key"])]),
    ...(collector.caSecret === "" ? [] : [source(collector.caSecret, "traces", ["ca.crt"])]),
  ];
  return {
    environment: {
      ...(ca === "" ? {} : { HEADWATER_NATS_CA: ca }),
      ...(clientSecret === ""
        ? {}
        : { HEADWATER_NATS_CERTIFICATE: `${tlsPath}/nats/tls.crt`, HEADWATER_NATS_KEY: `${tlsPath}/nats/tls.key` }),
      ...(collector.caSecret === "" ? {} : { OTEL_EXPORTER_OTLP_CERTIFICATE: `${tlsPath}/traces/ca.crt` }),
    },
    mounts: sources.length === 0 ? [] : [{ name: "tls", mountPath: tlsPath, readOnly: true }],
    volumes: sources.length === 0 ? [] : [{ name: "tls", projected: { defaultMode: 0o440, sources } }],
  };
}

const source = (name: string, folder: string, keys: readonly string[]) => ({
  secret: { name, items: keys.map((key) => ({ key, path: `${folder}/${key}` })) },
});
