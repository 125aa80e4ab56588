import type { ExecuteRequest } from "./port.ts";

/**
 * The request for another attempt, after a crash that other work may have caused. An action learns from `$.context.attempt` that it may
 * have run before.
 */
export function repeatedRequest(request: ExecuteRequest): ExecuteRequest {
  if (request.action === undefined) return request;
  const context = JSON.parse(request.action.context) as { readonly attempt?: number }; // Made by the runner.
  return { ...request, action: { ...request.action, context: JSON.stringify({ ...context, attempt: (context.attempt ?? 1) + 1 }) } };
}
