import { Page } from "../../parts/page.tsx";
import { text } from "./strings.ts";

export function SubscriptionsPage() {
  return <Page title={text.title}>{null}</Page>;
}
