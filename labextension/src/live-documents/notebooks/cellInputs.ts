/**
 * Input fields for cells that the agent runs: JupyterLab's own input box below the cell's outputs. Used by
 * `NotebookBridge`. The chat has a field too; the first answer counts.
 */

import type { OutputArea } from '@jupyterlab/outputarea';
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import { Panel } from '@lumino/widgets';

import type {
  CellInputAnswer,
  CellInputEnd,
  CellInputRequest
} from '../../wire/generated';

/** The open question of one run, with a field in each view of the notebook. */
interface IQuestion {
  request: CellInputRequest;
  panels: Set<Panel>;
}

/** The open questions, at most one per run. */
export class CellInputs {
  constructor(
    /** The output areas of a cell in all views of its notebook. */
    private readonly areas: (
      path: string,
      cellId: string
    ) => readonly OutputArea[],
    private readonly answer: (frame: CellInputAnswer) => void
  ) {}

  /** Show the question; repeated after a reconnection. */
  ask(request: CellInputRequest): void {
    this.close(request.run_id);
    const question: IQuestion = { request, panels: new Set() };
    this.questions.set(request.run_id, question);
    for (const area of this.areas(request.path, request.cell_id)) {
      this.show(area, question);
    }
  }

  /** The question was answered, or its run has ended. */
  end({ run_id, number }: CellInputEnd): void {
    if (this.questions.get(run_id)?.request.number === number) {
      this.close(run_id);
    }
  }

  /** Remove the question: its run has ended, or the user runs the cell. */
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
      activeElement.focus(); // The box takes the focus, but the user may be typing elsewhere.
    }
    panel.disposed.connect(() => {
      question.panels.delete(panel);
      // Late outputs redraw the whole area, including the box.
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
      // The server answers the kernel; the box only passes the header on.
      parent_header: {} as KernelMessage.IInputRequestMsg['header'],
      prompt,
      password,
      future: {
        sendInputReply: (content: KernelMessage.IInputReplyMsg['content']) =>
          this.send(question, content)
        // The box uses no other member of a future.
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
