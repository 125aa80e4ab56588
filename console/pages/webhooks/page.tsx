import { Page } from "../../parts/page.tsx";
import { text } from "./strings.ts";

export function WebhooksPage() {
  return <Page title={text.title}>{null}</Page>;
}
