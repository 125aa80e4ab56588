import { z } from "zod";
import { intervalBounds } from "../domain/schedule.ts";
import { secretReference } from "./secret-reference.ts";
import { structural, valuesByName } from "./rules.ts";

const { minimum, maximum } = intervalBounds;
const message = `intervalSeconds must be a whole number of seconds from ${minimum} to ${maximum} (366 days)`;

/** A field of any type, null too. */
const anything = { "x-kubernetes-preserve-unknown-fields": true, nullable: true };

/**
 * Any JSON. The API server's rules cannot look into it, its plain bounds can: so that the interval of a timer, which is most of what
 * is ever wrong in props, is refused at once, and everything else by the operator, who knows the component. Which prop is a timer is
 * not known here: the field is held to its bounds in the value of any.
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
          "Of a timer: seconds between ticks, a whole number from 1 to 31,622,400 (366 days). Under this name no other number is taken, whatever the prop's type.",
        ...anything,
        multipleOf: 1,
        ...intervalBounds,
      },
      cron: {
        description: "Of a timer: five fields (minute hour day-of-month month day-of-week), such as `*/5 * * * *`.",
        ...anything,
      },
      timezone: {
        description: "Of a timer with cron: IANA name, such as Europe/Berlin; UTC without one.",
        ...anything,
      },
    },
  },
);

/** Values of a component's props by name. */
export const props = valuesByName(propValue.describe("Any JSON value; a timer's is {intervalSeconds} or {cron, timezone}."), 250)
  .default({})
  .describe(
    "Values of the component's props by name, each any JSON of at most 64 KiB. A prop left out has the component's default. Secret values go into `secrets`.",
  );

/** Where the values of secret props are. */
export const secrets = valuesByName(secretReference.describe("Where the value is: exactly one of `secretKeyRef` and `sealed`."), 100)
  .default({})
  .describe("Where the values of secret props are, by prop name. The text is the value as JSON, or any other text as it is.");
