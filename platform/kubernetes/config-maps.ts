import { z } from "zod";
import { NotFound } from "../../domain/errors.ts";
import type { Kubernetes } from "./access/connection.ts";
import { pathOf } from "./paths.ts";

const configMap = z.looseObject({ data: z.record(z.string(), z.string()).optional() });

/** Reads texts of ConfigMaps on request. */
export function createConfigMaps(kubernetes: Kubernetes): { read(namespace: string, name: string, key: string): Promise<string> } {
  return {
    async read(namespace, name, key) {
      const path = pathOf(["api", "v1", "namespaces", namespace, "configmaps", name]);
      const { data = {} } = configMap.parse(await kubernetes.request({ method: "GET", path }));
      const text = data[key];
      if (text !== undefined) return text;
      throw new NotFound(`ConfigMap '${name}' of namespace '${namespace}' has no text key '${key}': it has ${keysOf(data)}`);
    },
  };
}

const keysOf = (data: Readonly<Record<string, string>>): string => Object.keys(data).slice(0, 10).join(", ") || "none";
