import { apiVersion } from "../../../crds/resource.ts";
import { InvalidInput, Unavailable } from "../../../domain/errors.ts";
import { pathOf, type Kubernetes } from "./connection.ts";

/** Checks at the start that the cluster has our custom resource definitions. @throws InvalidInput, Unavailable */
export async function requireDefinitions(kubernetes: Kubernetes): Promise<void> {
  try {
    await kubernetes.request({ method: "GET", path: pathOf(["apis", ...apiVersion.split("/")]) });
  } catch (error) {
    if (error instanceof Unavailable && error.code === "kubernetes_kind_missing")
      throw new InvalidInput(
        `the cluster at ${kubernetes.server} does not know ${apiVersion}: install the chart, or apply the definitions in charts/headwater/files/crds`,
        { code: "definitions_missing", cause: error },
      );
    if (!(error instanceof Unavailable)) throw error;
    throw new Unavailable(
      `resources are kept in the cluster at ${kubernetes.server} (HEADWATER_RESOURCES), which cannot be used: ${error.message}`,
      {
        cause: error,
      },
    );
  }
}
