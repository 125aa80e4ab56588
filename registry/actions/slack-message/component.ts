import { defineAction } from "headwater/types";

export default defineAction({
  name: "Message to an Incoming Webhook",
  key: "headwater-slack-message",
  version: "1.0.0",
  type: "action",
  description: "Posts a message to an incoming webhook of Slack, or of a chat with the same interface, such as Mattermost",
  annotations: { released: "2026-11-23" },
  props: {
    url: {
      type: "string",
      label: "Webhook URL",
      description: "Address of the incoming webhook. It is a credential: anyone who has it can post",
      secret: true,
    },
    text: { type: "string", label: "Text", description: "The message; with blocks, the text of its notification", optional: true },
    blocks: { type: "any", label: "Blocks", description: "A list of Slack blocks, for a message with a layout", optional: true },
    fields: {
      type: "object",
      label: "Other Fields",
      description: "Added to the message, such as `thread_ts`, or `username` and `icon_url` for Mattermost",
      optional: true,
    },
  },
  async run({ $ }) {
    const { url, text, blocks, fields } = this;
    if (text === undefined && blocks === undefined) throw new Error("the message is empty: set text, blocks or both");
    if (!URL.canParse(url) || !/^https?:/i.test(url))
      throw new Error("url is invalid: it must begin with http:// or https:// and have a host");
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...fields, text, blocks }),
      signal: AbortSignal.timeout(30_000),
    });
    const answer = (await response.text()).slice(0, 300);
    if (!response.ok) throw new Error(`the incoming webhook answered ${response.status}: ${answer}${retryAfter(response)}`);
    $.export("$summary", "Posted the message");
    return { status: response.status, answer };
  },
});

function retryAfter(response: Response): string {
  const seconds = response.headers.get("retry-after");
  return seconds === null ? "" : ` (retry after ${seconds} s)`;
}
