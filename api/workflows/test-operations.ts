import { HeadwaterError } from "../../domain/errors.ts";
import { operation } from "../context.ts";
import { dropBody } from "../http/request/call.ts";
import { ok } from "../http/response/replies.ts";
import { one } from "../http/response/schemas.ts";
import { startTest, testFields } from "./test.ts";
import { workflowTestResponse, workflowTestSchema } from "./test-response.ts";

export const workflowTestOperations = [
  operation({
    route: "POST /workflows/:workflow_id/test",
    id: "testWorkflow",
    change: { action: "test", kind: "Workflow" },
    summary: "Test a workflow, or a draft of its steps",
    description:
      "Executes the steps with a test event, and answers what each did. A test stores nothing and sends nothing: no events, no errors to `$errors`, no mail. `$.context.test` is true. The response is 200 even if a step fails.",
    body: testFields,
    neverEmpty: ["until_step"],
    takesCode: true,
    responses: one(workflowTestSchema),
    errors: [409, 504],
    handle: async (call, context) => {
      const test = await startTest(call, context);
      dropBody(call);
      const outcome = await test.outcome;
      if (outcome !== undefined) return ok(workflowTestResponse(test, outcome));
      const seconds = Math.round(context.config.runTimeoutMs / 1000);
      throw new HeadwaterError(
        504,
        "test_timeout",
        `the test did not end within ${seconds} s, or no runner started it: it stored nothing, try again`,
      );
    },
  }),
];
