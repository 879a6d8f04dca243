/** Ids of the commands of the agent's database. */

/** Command id; a public interface. */
export const OPEN_DATABASE = 'jupyter-ai-shoulders:open-agent-database';
