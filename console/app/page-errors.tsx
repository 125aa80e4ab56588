import type { ErrorComponentProps } from "@tanstack/react-router";
import { ButtonLink } from "../parts/button.tsx";
import { EmptyState, ErrorNotice } from "../parts/notices.tsx";
import { Page } from "../parts/page.tsx";
import { text } from "./strings.ts";

export function PageNotFound() {
  return (
    <Page title={text.notFound}>
      <EmptyState title={text.notFoundHint}>
        <ButtonLink to="/">{text.home}</ButtonLink>
      </EmptyState>
    </Page>
  );
}

export function PageError({ error: thrown }: ErrorComponentProps) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  return <ErrorNotice title={text.broken} error={error} retry={() => location.reload()} />;
}
