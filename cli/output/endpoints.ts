import type { Source } from "../../client/generated/operations.ts";

/** Addresses of a source's HTTP interfaces. */
export function endpointsOf({ configured_props: values }: Pick<Source, "configured_props">): readonly string[] {
  return Object.values(values).flatMap((value) => {
    const isEndpoint = typeof value === "object" && value !== null && "endpoint_url" in value && typeof value.endpoint_url === "string";
    return isEndpoint ? [String(value.endpoint_url)] : [];
  });
}

export const endpointLines = (source: Source): string[] => endpointsOf(source).map((url) => `endpoint ${url}`);
