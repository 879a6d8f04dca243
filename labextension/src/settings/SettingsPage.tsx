/** The settings page: navigation on the left, one section on the right. Loaded when it is first opened. */

import '../../style/chat/panel.css';
import '../../style/ui/controls.css';
import '../../style/chat/cards.css';
import '../../style/chat/sheets.css';
import '../../style/ui/diff.css';
import '../../style/settings/page.css';
import '../../style/settings/usage.css';
import '../../style/settings/protocols.css';
import '../../style/settings/memory.css';

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { useSignalVersion, ViewContext } from '../ui/hooks';
import { UsageSection } from './usage/UsageSection';
import type { Scope } from './store/api';
import { AccessSection } from './access/AccessSection';
import { Approvals, Changes } from './sections/AuditLog';
import { BudgetSection } from './sections/BudgetSection';
import type { ISettingsHost } from './store/settingsHost';
import { DatabaseSection } from './sections/DatabaseSection';
import { FolderSection } from './sections/FolderSection';
import { InstructionsSection } from './sections/InstructionsSection';
import { McpSection } from './mcp/McpSection';
import { MemorySection } from './memory/MemorySection';
import { ModelsSection } from './sections/ModelsSection';
import { NotificationsSection } from './sections/NotificationsSection';
import { PrivacySection } from './sections/PrivacySection';
import { ProvidersSection } from './providers/ProvidersSection';
import { RulesSection } from './rules/RulesSection';
import { SchedulesSection } from './sections/SchedulesSection';
import { SearchSection } from './sections/SearchSection';
import type { SettingsStore } from './store/settingsStore';
import { SuggestionsSection } from './sections/SuggestionsSection';
import { ToolsSection } from './sections/ToolsSection';
import { WebServicesSection } from './sections/WebServicesSection';
import {
  SettingsContext,
  useSettingsPage,
  useResource,
  useStore
} from './components/hooks';
import { ErrorNote } from '../ui/primitives';

/** The sections, as the command that opens the page names them. */
export const SECTIONS = [
  'providers',
  'models',
  'suggestions',
  'search',
  'services',
  'mcp',
  'access',
  'database',
  'tools',
  'rules',
  'budget',
  'usage',
  'schedules',
  'notifications',
  'privacy',
  'instructions',
  'memory',
  'folder',
  'approvals',
  'changes'
] as const;

export type Section = (typeof SECTIONS)[number];

/** Whether a value names a section. */
export function isSection(value: unknown): value is Section {
  return SECTIONS.some(section => section === value);
}

export function SettingsPage(props: {
  host: ISettingsHost;
  store: SettingsStore;
  section: Section;
  /** Counts how often a section was opened to be read; each time its heading gets the focus. */
  reads?: number;
  /** Counts requests to open the form for a new provider. */
  adds?: number;
  onSection: (section: Section) => void;
}): React.JSX.Element {
  const { host, store, section, adds = 0, onSection } = props;
  const [scope, setScope] = React.useState<Scope>('workspace');
  const { main, read } = useReading(props.reads ?? 0);
  const page = React.useMemo(
    () => ({
      host,
      store,
      scope,
      adds,
      reviewFolder: () => {
        onSection('folder');
        read();
      }
    }),
    [host, store, scope, adds, onSection, read]
  );
  return (
    <ViewContext.Provider value={host}>
      <SettingsContext.Provider value={page}>
        <div className="shoulders-Chat shoulders-Settings">
          <div className="shoulders-Settings-frame">
            <Navigation section={section} onSection={onSection} />
            <div className="shoulders-Settings-main" key={section} ref={main}>
              <div className="shoulders-Settings-content">
                <StatusNotes />
                <Head section={section} scope={scope} onScope={setScope} />
                {view(section)}
              </div>
            </div>
          </div>
        </div>
      </SettingsContext.Provider>
    </ViewContext.Provider>
  );
}

/** Focus the heading of the section when it is opened to be read. */
function useReading(reads: number): {
  main: React.RefObject<HTMLDivElement>;
  read: () => void;
} {
  const main = React.useRef<HTMLDivElement>(null);
  const [own, setOwn] = React.useState(0);
  const total = reads + own;
  React.useEffect(() => {
    if (total > 0) {
      main.current?.querySelector<HTMLElement>('h2')?.focus();
    }
  }, [total]);
  const read = React.useCallback(() => setOwn(count => count + 1), []);
  return { main, read };
}

function view(section: Section): React.JSX.Element {
  switch (section) {
    case 'providers':
      return <ProvidersSection />;
    case 'models':
      return <ModelsSection />;
    case 'suggestions':
      return <SuggestionsSection />;
    case 'search':
      return <SearchSection />;
    case 'services':
      return <WebServicesSection />;
    case 'mcp':
      return <McpSection />;
    case 'access':
      return <AccessSection />;
    case 'database':
      return <DatabaseSection />;
    case 'tools':
      return <ToolsSection />;
    case 'rules':
      return <RulesSection />;
    case 'budget':
      return <BudgetSection />;
    case 'usage':
      return <UsageSection />;
    case 'schedules':
      return <SchedulesSection />;
    case 'notifications':
      return <NotificationsSection />;
    case 'privacy':
      return <PrivacySection />;
    case 'instructions':
      return <InstructionsSection />;
    case 'memory':
      return <MemorySection />;
    case 'folder':
      return <FolderSection />;
    case 'approvals':
      return <Approvals />;
    case 'changes':
      return <Changes />;
  }
}

/** The sections as a list, or as a menu when space is short. */
function Navigation(props: {
  section: Section;
  onSection: (section: Section) => void;
}): React.JSX.Element {
  const { host } = useSettingsPage();
  const { trans, openEditor } = host;
  const unsaved = useUnsaved();
  return (
    <nav
      className="shoulders-Settings-nav"
      aria-label={trans.__('AI settings')}
    >
      <select
        className="shoulders-Input shoulders-Settings-menu"
        aria-label={trans.__('Settings section')}
        value={props.section}
        onChange={event => {
          const { value } = event.target;
          if (isSection(value)) {
            props.onSection(value);
          }
        }}
      >
        {SECTIONS.map(section => (
          <option key={section} value={section}>
            {titleOf(section, trans)}
          </option>
        ))}
      </select>
      <ul>
        {SECTIONS.map(section => (
          <li key={section}>
            <button
              type="button"
              className="shoulders-Settings-link"
              aria-current={section === props.section ? 'page' : undefined}
              onClick={() => props.onSection(section)}
            >
              {titleOf(section, trans)}
            </button>
          </li>
        ))}
      </ul>
      {unsaved > 0 && (
        <p className="shoulders-Settings-unsaved" role="status">
          {trans._n('%1 unsaved change.', '%1 unsaved changes.', unsaved)}
        </p>
      )}
      {openEditor !== null && (
        <div className="shoulders-Settings-lab">
          <button
            type="button"
            className="shoulders-Link"
            onClick={() => openEditor('shortcuts')}
          >
            {trans.__('Keyboard shortcuts…')}
          </button>
          <button
            type="button"
            className="shoulders-Link"
            onClick={() => openEditor('preferences')}
          >
            {trans.__('Appearance and layout…')}
          </button>
        </div>
      )}
    </nav>
  );
}

function Head(props: {
  section: Section;
  scope: Scope;
  onScope: (scope: Scope) => void;
}): React.JSX.Element {
  const { trans } = useSettingsPage().host;
  const name = React.useId();
  const scopes: readonly [Scope, string][] = [
    ['workspace', trans.__('This folder')],
    ['user', trans.__('All my folders')]
  ];
  return (
    <div className="shoulders-Settings-head">
      <h2 tabIndex={-1}>{titleOf(props.section, trans)}</h2>
      {hasScope(props.section) && (
        <fieldset className="shoulders-Scope">
          <legend>{trans.__('Apply to')}</legend>
          {scopes.map(([scope, title]) => (
            <label key={scope}>
              <input
                type="radio"
                name={name}
                checked={props.scope === scope}
                onChange={() => props.onScope(scope)}
              />
              <span>{title}</span>
            </label>
          ))}
        </fieldset>
      )}
    </div>
  );
}

/** The number of drafts not saved yet. */
function useUnsaved(): number {
  const { drafts } = useSettingsPage().store;
  useSignalVersion(drafts.changed);
  return drafts.unsavedCount;
}

function hasScope(section: Section): boolean {
  return [
    'models',
    'suggestions',
    'search',
    'database',
    'tools',
    'schedules',
    'notifications',
    'privacy',
    'memory'
  ].includes(section);
}

function titleOf(section: Section, trans: TranslationBundle): string {
  switch (section) {
    case 'providers':
      return trans.__('Providers');
    case 'models':
      return trans.__('Models');
    case 'suggestions':
      return trans.__('Suggestions');
    case 'search':
      return trans.__('Search');
    case 'services':
      return trans.__('Web services');
    case 'mcp':
      return trans.__('MCP servers');
    case 'access':
      return trans.__('Access for other programs');
    case 'database':
      return trans.__('Agent’s database');
    case 'tools':
      return trans.__('Tools');
    case 'rules':
      return trans.__('Permission rules');
    case 'budget':
      return trans.__('Budget');
    case 'usage':
      return trans.__('Usage');
    case 'schedules':
      return trans.__('Schedules and watchers');
    case 'notifications':
      return trans.__('Notifications');
    case 'privacy':
      return trans.__('Privacy');
    case 'instructions':
      return trans.__('Instructions');
    case 'memory':
      return trans.__('Memory');
    case 'folder':
      return trans.__('This folder');
    case 'approvals':
      return trans.__('Approvals');
    case 'changes':
      return trans.__('Changes');
  }
}

function StatusNotes(): React.JSX.Element | null {
  const { value } = useResource(useStore().status);
  const errors = [
    value?.state_directory_error,
    value?.usage_error,
    ...(value?.package_errors ?? [])
  ].filter(error => error !== null && error !== undefined);
  return errors.length === 0 ? null : (
    <>
      {errors.map(error => (
        <ErrorNote key={error.message} error={error} />
      ))}
    </>
  );
}
