import { Page } from "../../parts/page.tsx";
import { text } from "./strings.ts";

export function SourcePage() {
  return <Page title={text.title}>{null}</Page>;
}
