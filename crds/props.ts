import { z } from "zod";
import { intervalBounds } from "../domain/schedule/schedule.ts";
import { secretReference } from "./secret-reference.ts";
import { structural, valuesByName } from "./rules.ts";

const { minimum, maximum } = intervalBounds;
const message = `intervalSeconds must be a whole number of seconds from ${minimum} to ${maximum} (366 days)`;

/** A field of any type, null too. */
const anything = { "x-kubernetes-preserve-unknown-fields": true, nullable: true };

/**
 * Any JSON. The API server's rules cannot read it, but its schema bounds can. They refuse a wrong timer interval, the most frequent
 * mistake in props, at once; the operator, which knows the component, refuses the rest. The schema does not know which prop is a
 * timer, so the bounds apply to `intervalSeconds` in every value.
 */
const propValue = structural(
  z.json().superRefine((value, context) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return;
    const seconds = value["intervalSeconds"];
    if (typeof seconds !== "number" || (Number.isInteger(seconds) && seconds >= minimum && seconds <= maximum)) return;
    context.addIssue({ code: "custom", message, path: ["intervalSeconds"] });
  }),
  {
    ...anything,
    properties: {
      intervalSeconds: {
        description:
          "For a timer: seconds between ticks, a whole number from 1 to 31,622,400 (366 days). Other numbers under this name are refused in every prop.",
        ...anything,
        multipleOf: 1,
        ...intervalBounds,
      },
      cron: {
        description: "For a timer: five fields (minute hour day-of-month month day-of-week), such as `*/5 * * * *`.",
        ...anything,
      },
      timezone: {
        description: "For a timer with cron: IANA name, such as Europe/Berlin; default UTC.",
        ...anything,
      },
      jitterSeconds: {
        description: "For a timer: a tick is due up to so many seconds later, 1 to 86,400, always the same for one tick. Default: none.",
        ...anything,
      },
    },
  },
);

/** Values of a component's props by name. */
export const props = valuesByName(
  propValue.describe("Any JSON value; a timer's is {intervalSeconds} or {cron, timezone}, each with jitterSeconds if you like."),
  250,
)
  .default({})
  .describe(
    "Values of the component's props by name, each any JSON of at most 64 KiB. An absent prop has the component's default. Secret values belong in `secrets`.",
  );

/** References to the values of secret props. */
export const secrets = valuesByName(secretReference.describe("Reference to the value: exactly one of `secretKeyRef` and `sealed`."), 100)
  .default({})
  .describe("References to the values of secret props, by prop name. The text is the value as JSON; any other text is a string.");
