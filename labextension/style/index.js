import './chat.css';
import './controls.css';
import './messages.css';
import './cards.css';
import './markdown.css';
import './composer.css';
import './empty.css';
