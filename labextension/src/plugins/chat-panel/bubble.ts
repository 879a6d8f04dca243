/**
 * The panel as a bubble at the bottom right of the page: a round button that opens a window. Loaded by
 * `PanelPlacement`.
 */

import '../../../style/lab/bubble.css';

import { PanelLayout, Widget } from '@lumino/widgets';

import type { IStateStorage } from '../../model/conversations/persistedState';
import { sparkIcon } from '../../lab/customIcons';
import type { ChatWidget } from './chatWidget';

/** Step of the arrow keys when resizing, in pixels. */
const STEP = 32;

/** The button and the window. */
export class Bubble extends Widget {
  constructor(
    private readonly panel: ChatWidget,
    onOpen: () => void,
    private readonly onClose: () => void,
    /** Stores the size of the window. */
    private readonly storage: IStateStorage
  ) {
    super();
    const { trans } = panel.options;
    this.layout = new PanelLayout();
    this.addClass('shoulders-Bubble');
    this.addClass('jp-ThemedContainer');
    this.launcher = button('shoulders-Bubble-button', trans.__('AI chat'));
    this.launcher.append(
      sparkIcon.element({ tag: 'span', className: 'shoulders-Bubble-icon' }),
      this.badge
    );
    this.launcher.onclick = onOpen;
    this.handle = button(
      'shoulders-Bubble-handle',
      trans.__('Resize the chat: drag, or use the arrow keys')
    );
    this.handle.onpointerdown = event => this.drag(event);
    this.handle.onkeydown = event => this.onArrow(event);
    this.node.append(this.handle, this.launcher);
    this.node.addEventListener('keydown', event => this.onEscape(event));
    this.badge.className = 'shoulders-Bubble-badge';
    panel.options.conversations.changed.connect(this.mark, this);
    this.mark();
    this.restoreSize();
  }

  /** Take the panel into the window. */
  adopt(open: boolean): void {
    (this.layout as PanelLayout).addWidget(this.panel); // The layout was created as one.
    if (!this.isAttached) {
      Widget.attach(this, document.body);
    }
    this.set(open);
  }

  /** Release the panel. */
  release(): void {
    this.panel.parent = null;
    this.panel.show();
    if (this.isAttached) {
      Widget.detach(this);
    }
  }

  open(): void {
    this.set(true);
  }

  /** Close the window and focus the button. */
  minimise(): void {
    this.set(false);
    this.launcher.focus();
  }

  private set(open: boolean): void {
    this.panel.setHidden(!open);
    this.toggleClass('shoulders-mod-open', open);
    this.launcher.hidden = open;
    this.handle.hidden = !open;
  }

  /** Show on the button that a conversation runs or waits for the user. */
  private readonly mark = (): void => {
    const { conversations, trans } = this.panel.options;
    const found = conversations.tabs.map(
      ({ key }) => conversations.session(key)?.status
    );
    const waits = found.includes('waiting');
    const state = waits
      ? 'waiting'
      : found.includes('running')
        ? 'running'
        : '';
    const label = {
      waiting: trans.__('AI chat: waiting for you'),
      running: trans.__('AI chat: working'),
      '': trans.__('AI chat')
    }[state];
    this.badge.dataset.state = state;
    this.launcher.ariaLabel = this.launcher.title = label;
  };

  private onEscape(event: KeyboardEvent): void {
    const inside = event.key === 'Escape' && !this.panel.isHidden;
    if (inside && !event.defaultPrevented && !event.isComposing) {
      event.preventDefault();
      this.onClose();
    }
  }

  private onArrow(event: KeyboardEvent): void {
    const by = {
      ArrowLeft: [STEP, 0],
      ArrowRight: [-STEP, 0],
      ArrowUp: [0, STEP],
      ArrowDown: [0, -STEP]
    }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      const { width, height } = this.node.getBoundingClientRect();
      this.resize(width + (by[0] ?? 0), height + (by[1] ?? 0));
    }
  }

  private drag(event: PointerEvent): void {
    const { width, height } = this.node.getBoundingClientRect();
    this.handle.setPointerCapture(event.pointerId);
    this.handle.onpointermove = ({ clientX, clientY }) =>
      this.resize(
        width + event.clientX - clientX,
        height + event.clientY - clientY
      );
    this.handle.onlostpointercapture = () => {
      this.handle.onpointermove = null;
    };
  }

  private restoreSize(): void {
    const [width, height] = (this.storage.read() ?? '').split('x').map(Number);
    if (width !== undefined && height !== undefined && width * height > 0) {
      this.resize(width, height);
    }
  }

  /** The style sheet limits the size to the page and a minimum width. */
  private resize(width: number, height: number): void {
    this.storage.write(`${Math.round(width)}x${Math.round(height)}`);
    this.node.style.setProperty('--shoulders-bubble-width', `${width}px`);
    this.node.style.setProperty('--shoulders-bubble-height', `${height}px`);
  }

  private readonly launcher: HTMLButtonElement;
  private readonly handle: HTMLButtonElement;
  private readonly badge = document.createElement('span');
}

function button(className: string, label: string): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = className;
  made.title = label;
  made.ariaLabel = label;
  return made;
}
