import express, { type Router } from "express";
import type { HttpMetrics } from "../http/metrics.ts";
import type { ApiPorts } from "../ports.ts";

/** For whoever runs us: no key needed, nothing told but that we live, are ready and, unless they are told elsewhere, our metrics. */
export function healthRoutes({ checkReady, log }: Pick<ApiPorts, "checkReady" | "log">, metrics: HttpMetrics | undefined): Router {
  const router = express.Router();
  router.get("/healthz", (_request, response) => void response.json({ status: "ok" }));
  router.get("/readyz", async (_request, response) => {
    try {
      await checkReady();
      response.json({ status: "ready" });
    } catch (error) {
      log.warn({ op: "process.ready", err: error }, "not ready");
      response.status(503).json({ status: "not ready" });
    }
  });
  if (metrics === undefined) return router;
  router.get("/metrics", async (_request, response) => {
    response.setHeader("content-type", metrics.contentType);
    response.end(await metrics.text());
  });
  return router;
}
