import './base.css';
import './chat.css';
import './messages.css';
import './markdown.css';
import './composer.css';
