import { useEffect, useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Catalogue, type Choice } from "../../parts/catalogue/catalogue.tsx";
import { text as catalogueText } from "../../parts/catalogue/strings.ts";
import { useChosen } from "../../parts/catalogue/use-chosen.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { exampleStep } from "../workflows/strings.ts";
import { actionDraft, emptyDraft, type StepDraft } from "./steps-draft.ts";
import { text } from "./strings.ts";

interface AddStepProps {
  /** Of the new step. */
  readonly number: number;
  readonly onAdd: (step: StepDraft) => void;
}

/** Adds a step: an action of the catalogue, or code of its own. */
export function AddStep({ number, onAdd }: AddStepProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [choice, setChoice] = useState<Choice>();
  const close = (): void => {
    setIsOpen(false);
    setChoice(undefined);
  };
  const add = (step: StepDraft): void => {
    onAdd(step);
    close();
  };
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>{text.add}</Button>
      {isOpen && (
        <Dialog title={text.add} isOpen isWide onClose={close}>
          {choice === undefined ? (
            <>
              <Button className="self-start" onClick={() => add(emptyDraft(number, exampleStep))}>
                {text.addCode}
              </Button>
              <Catalogue type="action" onChoose={setChoice} />
            </>
          ) : (
            <Fetched choice={choice} onFetched={(key) => add(actionDraft(number, "key" in choice ? { key } : { id: key }))} />
          )}
        </Dialog>
      )}
    </>
  );
}

/** An action at an address is fetched and built before it is a step. */
function Fetched({ choice, onFetched }: { readonly choice: Choice; readonly onFetched: (key: string) => void }) {
  const { component, error } = useChosen(choice);
  const key = component?.key;
  useEffect(() => {
    if (key !== undefined) onFetched(key);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- Once, when it is built.
  }, [key]);
  if (error !== null) return <ErrorNotice title={catalogueText.failed} error={error} />;
  return (
    <p role="status" className="text-sm text-muted">
      {catalogueText.fetching}
    </p>
  );
}
