/**
 * The styles of a panel in a notebook's output, as a text for its shadow tree. The build collects every style sheet the
 * panel imports (`vite.widget.config.mts`) and puts the text in the place of the mark.
 */

import '../../style/widget/colours.css';
import '../../style/widget/panel.css';

export const STYLES = '__SHOULDERS_STYLES__';
