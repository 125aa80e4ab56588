import express, { type Router } from "express";
import type { HttpMetrics } from "./metrics.ts";
import type { Readiness } from "./readiness.ts";

/**
 * Probes without a key. `/readyz` reports whether the installation can save and run a component, with each check. The readiness of a
 * single process is at `HEADWATER_HEALTH_LISTEN`, and so are metrics if it is set.
 */
export function healthRoutes(readiness: Pick<Readiness, "read">, metrics: HttpMetrics | undefined): Router {
  const router = express.Router();
  router.get("/healthz", (_request, response) => void response.json({ status: "ok" }));
  router.get("/readyz", async (_request, response) => {
    const { ready, checks } = await readiness.read();
    response.status(ready ? 200 : 503).json({ status: ready ? "ready" : "not ready", checks });
  });
  if (metrics === undefined) return router;
  router.get("/metrics", async (_request, response) => {
    response.setHeader("content-type", metrics.contentType);
    response.end(await metrics.text());
  });
  return router;
}
