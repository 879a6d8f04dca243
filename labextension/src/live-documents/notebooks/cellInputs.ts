/**
 * The fields in which the user types what a running cell of the agent asks for: the lab's own input
 * box below the cell's outputs. Used by `NotebookBridge`; the chat has a field of its own, and the
 * first answer counts.
 */

import type { OutputArea } from '@jupyterlab/outputarea';
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import { Panel } from '@lumino/widgets';

import type {
  CellInputAnswer,
  CellInputEnd,
  CellInputRequest
} from '../../wire/generated';

/** The question of one run that waits here, and its fields: one in each view of the notebook. */
interface IQuestion {
  request: CellInputRequest;
  panels: Set<Panel>;
}

/** At most one question per run waits. */
export class CellInputs {
  constructor(
    /** The output areas of a cell in all views of its notebook. */
    private readonly areas: (
      path: string,
      cellId: string
    ) => readonly OutputArea[],
    private readonly answer: (frame: CellInputAnswer) => void
  ) {}

  /** Show the question; said again when the page comes back. */
  ask(request: CellInputRequest): void {
    this.close(request.run_id);
    const question: IQuestion = { request, panels: new Set() };
    this.questions.set(request.run_id, question);
    for (const area of this.areas(request.path, request.cell_id)) {
      this.show(area, question);
    }
  }

  /** The question was answered somewhere, or its run is over. */
  end({ run_id, number }: CellInputEnd): void {
    if (this.questions.get(run_id)?.request.number === number) {
      this.close(run_id);
    }
  }

  /** The run is over, or the user runs its cell: nothing is asked any more. */
  close(runId: string): void {
    const question = this.questions.get(runId);
    this.questions.delete(runId);
    question?.panels.forEach(panel => panel.dispose());
  }

  dispose(): void {
    [...this.questions.keys()].forEach(id => this.close(id));
  }

  private show(area: OutputArea, question: IQuestion): void {
    const panel = this.field(area, question);
    question.panels.add(panel);
    const { activeElement } = document;
    area.layout.addWidget(panel);
    if (
      activeElement instanceof HTMLElement &&
      activeElement !== document.body
    ) {
      activeElement.focus(); // The box takes the focus; the user may be typing somewhere else.
    }
    panel.disposed.connect(() => {
      question.panels.delete(panel);
      // Outputs that come late are placed anew, and take all there is in the area with them.
      queueMicrotask(() => {
        if (this.isOpen(question) && !area.isDisposed) {
          this.show(area, question);
        }
      });
    });
  }

  private field(area: OutputArea, question: IQuestion): Panel {
    const { prompt, password } = question.request;
    const panel = new Panel();
    panel.addClass('jp-OutputArea-child');
    panel.addClass('jp-OutputArea-stdin-item');
    const gap = area.contentFactory.createOutputPrompt();
    gap.addClass('jp-OutputArea-prompt');
    panel.addWidget(gap);
    const field = area.contentFactory.createStdin({
      // The server answers the kernel: of a message's header the box passes on what it is given.
      parent_header: {} as KernelMessage.IInputRequestMsg['header'],
      prompt,
      password,
      future: {
        sendInputReply: (content: KernelMessage.IInputReplyMsg['content']) =>
          this.send(question, content)
        // The box uses nothing else of a future.
      } as unknown as Kernel.IShellFuture,
      inputHistoryScope: 'global'
    });
    field.addClass('jp-OutputArea-output');
    field.node
      .querySelector('input')
      ?.setAttribute('aria-label', prompt.trim());
    panel.addWidget(field);
    return panel;
  }

  private send(
    question: IQuestion,
    content: KernelMessage.IInputReplyMsg['content']
  ): void {
    const { run_id, path, cell_id, number } = question.request;
    if (content.status === 'ok' && this.isOpen(question)) {
      const text = content.value;
      const type = 'cell-input-answer';
      this.answer({ type, run_id, path, cell_id, number, text });
    }
  }

  private isOpen(question: IQuestion): boolean {
    return this.questions.get(question.request.run_id) === question;
  }

  private readonly questions = new Map<string, IQuestion>();
}
